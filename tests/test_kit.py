"""The kit as a stranger finds it: what the wheel holds, what imports what, documents that say what the code says, the notebook."""

import ast
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import nbformat
import pytest
from hatchling.builders.wheel import WheelBuilder
from nbclient import NotebookClient

import pitchenv
from pitchenv.checks import InputError
from training import readme

ROOT = Path(__file__).parents[1]


def test_the_wheel_holds_the_environment_library_alone(tmp_path: Path) -> None:
    wheel = next(WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"]))
    with zipfile.ZipFile(wheel) as file:
        names = file.namelist()
    tops = {name.split("/")[0] for name in names}
    assert tops == {"pitchenv", f"pitchenv-{pitchenv.__version__}.dist-info"}
    assert {"pitchenv/py.typed", "pitchenv/rulebook.md"} <= set(names)
    assert not [name for name in names if "__pycache__" in name or name.endswith((".nbi", ".nbc"))]


def test_all_three_packages_import_from_any_folder(tmp_path: Path) -> None:
    code = "import pitchenv, agents, training.duplicate; print(agents.load('random').reads)"
    found = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert found.stdout.strip() in ("view", "observation")


def imports(path: Path) -> set[str]:
    """The top-level packages a file imports."""
    tree = ast.parse(path.read_text())
    names = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]
    return {name.split(".")[0] for name in names}


@pytest.mark.parametrize(
    ("package", "forbidden"),
    [("pitchenv", {"torch", "agents", "training", "tests"}), ("agents", {"training", "tests"}), ("training", {"tests"})],
)
def test_dependencies_point_one_way(package: str, forbidden: set[str]) -> None:
    files = list((ROOT / package).rglob("*.py"))
    assert len(files) > 3
    for path in files:
        assert not imports(path) & forbidden, path


def test_importing_pitchenv_is_light() -> None:
    code = "import sys, pitchenv; print([m for m in ('torch', 'tensorboard', 'tyro', 'rich', 'agents', 'training') if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
    assert found.stderr == ""  # nothing compiles at import


def test_readme_has_the_tables_of_what_is_there() -> None:
    text = (ROOT / "README.md").read_text()
    assert readme.with_tables(text) == text
    stale = re.sub(r"(?<=zoo:auction-2` \| )[0-9.]+", "9.99", text)
    assert stale != text
    assert readme.with_tables(stale) == text
    with pytest.raises(InputError, match="no one place for the table 'zoo'"):
        readme.with_tables(text.replace("<!-- zoo -->", ""))


def test_readme_examples_run(tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    assert len(blocks) >= 4
    found = subprocess.run([sys.executable, "-c", "\n".join(blocks)], cwd=tmp_path, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    (tmp_path / "mine.py").write_text(next(block for block in blocks if "# in mine.py" in block))
    command = [sys.executable, "-m", "training", "match", "mine:HighestLegal", "heuristic", "--deals", "4"]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    assert "mine:HighestLegal" in found.stdout


def test_changelog_has_this_version() -> None:
    assert f"## {pitchenv.__version__}" in (ROOT / "CHANGELOG.md").read_text()
    assert f'version = "{pitchenv.__version__}"' in (ROOT / "pyproject.toml").read_text()


@pytest.mark.parametrize("path", sorted((ROOT / "notebooks").glob("*.ipynb")), ids=lambda path: path.stem)
def test_notebook(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notebook = nbformat.read(path, 4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.outputs for cell in cells[1:])  # it ships executed
    assert not [output for cell in cells for output in cell.outputs if output.output_type == "error"]
    monkeypatch.setenv("PITCHENV_QUICK", "1")  # the same cells, a training of seconds
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
