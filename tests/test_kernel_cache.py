"""The compiled kernels' cache can't go stale: its key covers every source that a kernel may depend on, and kernels keep to the rule that
makes this sound."""

import ast
import importlib.util
import inspect
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numba
import pytest

from pitchenv.engine import kernel as kernel_module

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "pitchenv"


def kernel_files() -> list[Path]:
    """Every source of the project with a function that is decorated with `@kernel`."""
    files = []
    for folder in ("pitchenv", "agents", "training"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            if any(
                isinstance(node, ast.FunctionDef) and any(ast.unparse(d) == "kernel" for d in node.decorator_list)
                for node in ast.walk(tree)
            ):
                files.append(path)
    return files


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def file_of(name: str) -> str | None:
    """Where a project's module lies; None for a library's."""
    if name.split(".")[0] not in ("pitchenv", "agents", "training"):
        return None
    return str(importlib.import_module(name).__file__)


def names_used(function) -> set[str]:
    """The global names that a function's code, nested code too, looks up."""
    found, codes = set(), [function.__code__]
    while codes:
        code = codes.pop()
        found |= set(code.co_names)
        codes += [c for c in code.co_consts if inspect.iscode(c)]
    return found


def covered_by_key(path: Path) -> set[str]:
    """The sources that the fingerprint of the kernels in a file covers (a test below holds it to that)."""
    beside = [] if path.parent in (PACKAGE, PACKAGE / "engine") else path.parent.glob("*.py")
    of_player = [] if PACKAGE in path.parents else kernel_module.PLAYER_SOURCES
    return {str(source) for source in (*kernel_module.SHARED_SOURCES, path, *beside, *of_player)}


def imported_names(path: Path) -> dict[str, str]:
    """For every name that a file imports, the module it comes from."""
    found = {}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0
            for alias in node.names:
                submodule = f"{node.module}.{alias.name}"
                is_module = (ROOT / Path(*submodule.split("."))).with_suffix(".py").exists()
                found[alias.asname or alias.name] = submodule if is_module else str(node.module)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                found[alias.asname or alias.name.split(".")[0]] = alias.name
    return found


@pytest.mark.parametrize("path", kernel_files(), ids=module_of)
def test_a_kernel_depends_on_sources_of_its_key_alone(path):
    """What a kernel looks up comes from its own file, from a source that its fingerprint covers, or from a library."""
    module = importlib.import_module(module_of(path))
    imported = imported_names(path)
    covered = covered_by_key(path)
    kernels = [
        f for f in vars(module).values() if isinstance(f, numba.core.dispatcher.Dispatcher) and f.py_func.__module__ == module.__name__
    ]
    assert kernels
    for function in kernels:
        for name in names_used(function.py_func) & set(imported):
            source = file_of(imported[name])
            assert source is None or source in covered, f"{function.py_func.__name__} uses {name} of {imported[name]}"


def test_the_engine_itself_imports_nothing_else_of_the_project():
    for path in sorted((PACKAGE / "engine").glob("*.py")):
        for module in imported_names(path).values():
            source = file_of(module)
            assert source is None or Path(source) in kernel_module.SHARED_SOURCES, f"{path.name} imports {module}"


def test_an_edit_of_a_source_is_another_key(tmp_path):
    package = tmp_path / "pitchenv"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    spec = importlib.util.spec_from_file_location("copied_kernel", package / "engine" / "kernel.py")
    copied = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(copied)

    def keys() -> list[str]:
        sources = ("engine/match.py", "engine/bits.py", "own.py", "policies/heuristic/bidding.py", "../agents/own.py")
        return [copied.fingerprint.__wrapped__(str((package / source).resolve())) for source in sources]

    (tmp_path / "agents").mkdir()
    for folder in (package, tmp_path / "agents"):
        (folder / "own.py").write_text("from pitchenv.engine.kernel import kernel\n", encoding="utf-8")
    before = keys()

    def changed_by(name: str) -> list[bool]:
        path = package / name
        text = path.read_text(encoding="utf-8")
        path.write_text(text + "# edited\n", encoding="utf-8")
        after = keys()
        path.write_text(text, encoding="utf-8")
        return [a != b for a, b in zip(after, before, strict=True)]

    for shared in ("engine/points.py", "engine/state.py", "cards.py", "actions.py"):
        assert all(changed_by(shared)), shared
    assert changed_by("own.py") == [False, False, True, False, False]
    assert changed_by("../agents/own.py") == [False, False, False, False, True]
    for beside in ("bidding.py", "tricks.py"):
        assert changed_by(f"policies/heuristic/{beside}") == [False, False, False, True, True]
    assert not any(changed_by("render.py"))
    assert keys() == before


def test_kernels_go_to_the_folder_of_their_key(tmp_path):
    script = "import pitchenv; pitchenv.Game('auction-2', seed=1).legal_actions()"
    env = os.environ | {"PYTHONPATH": str(ROOT), "NUMBA_CACHE_DIR": str(tmp_path)}
    first = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=env, cwd=tmp_path)
    assert first.stderr.count("compiling the rules engine") == 1
    assert first.stderr.count("\n") == 1
    folders = {folder.name for folder in tmp_path.glob("kernels-*")}
    assert f"kernels-{kernel_module.fingerprint(str(PACKAGE / 'engine' / 'single.py'))}" in folders
    assert any(tmp_path.rglob("*.nbi"))


@pytest.fixture
def unkept():
    """The cache folder is found anew, before and after."""
    found = kernel_module.cache_folder
    found.cache_clear()
    yield str(PACKAGE / "engine" / "match.py")
    found.cache_clear()


def test_a_root_that_cannot_be_written_to_is_passed_over(tmp_path, monkeypatch, unkept):
    """Never Numba's own place beside the source, which has no fingerprint."""
    file = tmp_path / "file"
    file.touch()

    def no_home():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(kernel_module.config, "CACHE_DIR", str(file / "first"))
    monkeypatch.setattr(kernel_module, "ENGINE", file)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", no_home)
    monkeypatch.setattr(kernel_module.tempfile, "gettempdir", lambda: str(tmp_path / "passing"))
    name = f"kernels-{kernel_module.fingerprint(unkept)}"
    assert kernel_module.cache_folder(unkept) == tmp_path / "passing" / "pitchenv" / name
    kernel_module.cache_folder.cache_clear()
    monkeypatch.setattr(kernel_module.tempfile, "gettempdir", lambda: str(file))
    assert kernel_module.cache_folder(unkept) is None
    assert not kernel_module.compiled(unkept)

    def one():
        return 1

    monkeypatch.setattr(kernel_module, "cache_folder", lambda source: None)
    function = kernel_module.kernel(one)
    assert isinstance(function._cache, numba.core.caching.NullCache)
    assert str(file / "first") == kernel_module.config.CACHE_DIR


def test_folders_that_nobody_has_used_for_a_week_are_cleared(tmp_path, monkeypatch, unkept):
    monkeypatch.setattr(kernel_module.config, "CACHE_DIR", str(tmp_path))
    day, now = 86_400, time.time()
    for days in (1, 6, 8, 100):
        old = tmp_path / f"kernels-{days}"
        old.mkdir()
        os.utime(old, (now - days * day,) * 2)
    (tmp_path / "other").mkdir()
    os.utime(tmp_path / "other", (now - 100 * day,) * 2)
    own = kernel_module.cache_folder(unkept)
    assert {folder.name for folder in tmp_path.iterdir()} == {"kernels-1", "kernels-6", "other", own.name}
    os.utime(own, (now - 30 * day,) * 2)
    kernel_module.cache_folder.cache_clear()
    assert kernel_module.cache_folder(unkept) == own
    assert time.time() - own.stat().st_mtime < day  # in use


def test_importing_compiles_nothing(tmp_path):
    script = "import pitchenv, pitchenv.pitch_v0, pitchenv.single"
    env = os.environ | {"PYTHONPATH": str(ROOT), "NUMBA_CACHE_DIR": str(tmp_path)}
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=env, cwd=tmp_path)
    assert not said.stdout
    assert not said.stderr
    assert not list(tmp_path.rglob("*.nbi"))
