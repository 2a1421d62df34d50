"""From a run to the three files of a zoo agent: first as a draft, then, when all of it is ready, into the zoo."""

import contextlib
import hashlib
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import torch

from agents import zoo
from agents.learned import PARTS, NetworkPolicy, TwoPartPolicy, load_run, network_card
from pitchenv.checks import InputError, read_json, shown
from pitchenv.records import rules_text
from training.checkpoint import finished, load_checkpoint
from training.files import write_file, writing
from training.result_file import versions, write_json
from training.run import TEACHERS_FOLDER
from training.teachers import pinned_teachers
from training.zoo_card import markdown

COMMITS_FILE: Final = "commits.json"  # of a run: the commits of this repository that it was trained with
DRAFT_FOLDER: Final = "zoo"  # of a run
CURVE_END: Final = 5  # evaluations that the card shows
MEASURED: Final = ("matches", "bidding", "exploited", "notes")  # what a draft keeps while its weights stay the same


def commit() -> str:
    """The commit of this repository, with `-dirty` behind it where files differ from it; "unknown" outside a repository."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    try:
        found = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return found.stdout.strip()


def record_commit(run: Path) -> None:
    """Note in a run that it is trained with the present commit. Raises InputError."""
    commits = commits_of(run)
    if (now := commit()) in commits:
        return
    with writing(f"run {str(run)!r}"):
        run.mkdir(parents=True, exist_ok=True)
        write_file(run / COMMITS_FILE, json.dumps([*commits, now]).encode())


def commits_of(run: Path) -> list[str]:
    """The commits noted in a run, in order; none where it was not trained by `zoo`."""
    try:
        commits = read_json(run / COMMITS_FILE)
    except (OSError, ValueError):
        return []
    return [str(one) for one in commits] if isinstance(commits, list) else []


def pack(name: str, run: Path) -> dict[str, Any]:
    """Write the weights of a finished run and the JSON of what is known of them to its draft; returns the JSON.

    What was measured stays while the weights are the same. Raises InputError for a run that is not finished, or has a part that is no
    network.
    """
    config, state = load_checkpoint(run)
    if not finished(config, state):
        at = f"not finished, at iteration {state['iteration']} of {config.iterations}"
        raise InputError(f"run {str(run)!r}: {at}; allowed: one that is (train --resume {run})")
    policy = load_run(run)
    content = zoo.packed(policy)
    card: dict[str, Any] = {
        "format": zoo.CARD_FORMAT,
        "name": name,
        "sha256": hashlib.sha256(content).hexdigest(),
        "bytes": len(content),
        "networks": _networks(policy),
        "training": {
            "config": config.to_dict(),
            **({"games": state["games"]} if config.games else {}),
            **({"teachers": pinned_teachers(run / TEACHERS_FOLDER)} if config.teachers else {}),
            "commits": commits_of(run),
            "iterations": state["iteration"],
            "deals": state["iteration"] * config.deals_per_iteration,
            "decisions": int(state.get("decisions", 0)),
            "cpu_seconds": float(state.get("cpu_seconds", 0.0)),
            "curve": state["curve"][-CURVE_END:],
        },
        "matches": [],
        "bidding": {},
        "exploited": {},
        "notes": [],
        "versions": {**versions(), "torch": str(torch.__version__), "commit": commit()},
    }
    draft = run / DRAFT_FOLDER
    with contextlib.suppress(InputError):
        before = read_draft(name, draft)
        if before["sha256"] == card["sha256"]:
            card |= {key: before[key] for key in MEASURED}
    with writing(f"draft {str(draft)!r}"):
        draft.mkdir(exist_ok=True)
        write_file(draft / f"{name}.safetensors", content)
    write_draft(card, draft)
    return card


def _networks(policy: TwoPartPolicy) -> dict[str, Any]:
    """What both networks are for. Raises ZooError where they are not for the same."""
    parts = {part: network for part, network in policy.parts.items() if isinstance(network, NetworkPolicy)}
    bidding, play = (network_card(parts[part], part) for part in PARTS)
    for field in ("slots", "canonical_suits", "any_rules", "rules"):
        if bidding[field] != play[field]:
            raise zoo.ZooError(
                f"{field}: {bidding[field]!r} of the bidding network, {play[field]!r} of the play network; allowed: the same"
            )
    return {
        "layout": play["layout"], "slots": play["slots"], "hidden": {"bidding": bidding["hidden"], "play": play["hidden"]},
        "canonical_suits": play["canonical_suits"], "any_rules": play["any_rules"], "rules": rules_text(parts["play"].rules),
    }  # fmt: skip


def read_draft(name: str, draft: Path) -> dict[str, Any]:
    """The JSON of a draft. Raises InputError where there is none yet."""
    if not (draft / f"{name}.json").is_file():
        raise InputError(f"draft {str(draft)!r}: nothing packed as {name!r}; allowed: after --stage pack")
    return zoo.read_card(draft / f"{name}.json")


def exploited_from(path: Path, networks: dict[str, Any]) -> dict[str, Any]:
    """What the card of such networks says of the result of `best-response --json`. Raises InputError, for one at other rules too."""
    try:
        report = read_json(path)
        rules, seconds = report["rules"], [float(row["cpu_seconds"]) for row in report["exploiters"]]
        found = {
            "agent": str(report["agent"]), "deals": int(report["deals"]), "gain": float(report["best"]["gain"]),
            "half_width": float(report["best"]["half_width"]), "exploiters": len(seconds), "cpu_minutes": sum(seconds) / len(seconds) / 60,
        }  # fmt: skip
    except (OSError, ValueError, KeyError, TypeError, ZeroDivisionError):
        raise InputError(f"exploited = {str(path)!r}: missing or damaged; allowed: a file of best-response --json") from None
    if not networks["any_rules"] and rules != networks["rules"]:
        raise InputError(f"exploited = {str(path)!r}: at rules = {shown(rules)}; allowed: {shown(networks['rules'])}")
    return found


def write_draft(card: dict[str, Any], draft: Path) -> None:
    """Write the JSON of a draft. Raises InputError."""
    write_json("draft", draft / f"{card['name']}.json", card)


@contextlib.contextmanager
def looked_into_first(folder: Path) -> Iterator[None]:
    """Have zoo names mean the agents in a folder, where it has them, in this process and those that it starts."""
    before = os.environ.get(zoo.FOLDERS)
    os.environ[zoo.FOLDERS] = os.pathsep.join([str(folder.resolve()), *([before] if before else [])])
    try:
        yield
    finally:
        if before is None:
            del os.environ[zoo.FOLDERS]
        else:
            os.environ[zoo.FOLDERS] = before


def install(name: str, draft: Path, to: Path) -> list[Path]:
    """Put a measured draft into a zoo, with its card; returns the three files. Raises InputError.

    All are written beside what they replace before the first takes its place. The weights go first: were this stopped between them, their
    checksum would not be that of the old JSON, and the agent would be refused until the same command has been run again.
    """
    card = read_draft(name, draft)
    against = {match["against"] for match in card["matches"]}
    if "heuristic" not in against:
        raise InputError(f"draft {str(draft)!r}: not measured against heuristic; allowed: after --stage measure")
    if zoo.checksum(draft / f"{name}.safetensors") != card["sha256"]:
        raise InputError(f"draft {str(draft)!r}: its weights are not those of its JSON; allowed: after --stage pack")
    contents = {
        ".safetensors": (draft / f"{name}.safetensors").read_bytes(),
        ".json": (json.dumps(card, indent=1) + "\n").encode(),
        ".md": markdown(card).encode(),
    }
    with writing(f"zoo {str(to)!r}"):
        to.mkdir(parents=True, exist_ok=True)
        for kind, content in contents.items():
            write_file(to / f"{name}{kind}.new", content)
        for kind in contents:
            (to / f"{name}{kind}.new").replace(to / f"{name}{kind}")
    return [to / f"{name}{kind}" for kind in contents]
