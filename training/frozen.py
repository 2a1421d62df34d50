"""Agents that stay what they are: the runs and zoo agents that a spec names are copied, since they may be trained on, moved or removed."""

import json
import os
import re
import shutil
from pathlib import Path
from typing import Final

import agents
from agents.learned import CheckpointError, NetworkPolicy, TwoPartPolicy, network_bytes, newest_checkpoint
from pitchenv.checks import InputError, read_json
from pitchenv.policies import Policy
from training.checkpoint import CONFIG_FILE, STATE_FILE, save_agent
from training.files import write_file

SPEC_FILE: Final = "spec.json"  # the spec in pieces: texts as they are, and the numbers of copies
PIECES: Final = re.compile(r"((?<![^:,=])zoo:[^:,=]+|[:,=])")  # of sampled:RUN, search:zoo:NAME,worlds=30 and the like
NOT_WHOLE: Final = b"null"  # stands in it until all is copied, and says whose folder it is


def freeze(spec: str, folder: Path, with_state: bool = False) -> None:
    """Write to a folder all that is needed to load the agent of a spec again: the spec, and a copy of every run and zoo agent in it.

    A run's copy has its newest checkpoint, without the state of its training unless that is asked for. Raises InputError where that can't
    be done. The spec is written last: a folder without it is not used. What `freeze` has written there before is replaced; a folder that
    holds anything else, or a run of the spec, is refused.
    """
    pieces: list[str | int] = []
    texts = [spec] if _is_run(spec) else PIECES.split(spec)
    inside = any(_is_run(text) and Path(text).resolve().is_relative_to(folder.resolve()) for text in texts)
    if inside or (os.path.lexists(folder) and not made_by_freeze(folder)):
        raise InputError(f"agent {spec!r}: cannot be copied to {str(folder)!r}: something else lies there; allowed: a new folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_file(folder / SPEC_FILE, NOT_WHOLE)
        for left in filter(Path.is_dir, folder.iterdir()):
            shutil.rmtree(left)
        for piece in texts:
            if _is_run(piece):
                _copy(Path(piece), folder / str(len(pieces)), with_state)
                pieces.append(len(pieces))
            elif piece.startswith("zoo:"):
                _copy_of_zoo(piece, folder / str(len(pieces)))
                pieces.append(len(pieces))
            else:
                pieces.append(piece)
        write_file(folder / SPEC_FILE, json.dumps(pieces).encode())
    except OSError as fault:
        raise InputError(f"agent {spec!r}: cannot be copied to {str(folder)!r}: {fault.strerror}") from None


def made_by_freeze(folder: Path) -> bool:
    """Whether a folder holds nothing but what `freeze` writes: a frozen agent, or one that is half there."""
    try:
        names = {path.name for path in folder.iterdir()} - {SPEC_FILE + ".tmp"}
        pieces = read_json(folder / SPEC_FILE) if names else None
    except (OSError, ValueError):
        return False
    ours = pieces is None or isinstance(pieces, list)
    return ours and not folder.is_symlink() and all(name == SPEC_FILE or name.isdigit() for name in names)


def frozen_spec(folder: Path) -> str:
    """The spec of the agent in a folder that `freeze` has made. Raises CheckpointError."""
    try:
        pieces = read_json(folder / SPEC_FILE)
        return "".join(piece if isinstance(piece, str) else str(folder / str(int(piece))) for piece in pieces)
    except (OSError, ValueError, TypeError):
        raise CheckpointError(f"{str(folder / SPEC_FILE)!r}: missing or damaged") from None


def load_frozen(folder: Path) -> Policy:
    """The agent in such a folder. Raises InputError."""
    return agents.load(frozen_spec(folder))


def _is_run(piece: str) -> bool:
    """Whether a piece of a spec is the folder of a run or of a checkpoint; the names of players and numbers are not."""
    if not piece or piece in agents.PLAYERS or piece.isdigit() or not os.path.isdir(piece):
        return False
    try:
        newest_checkpoint(Path(piece))
    except CheckpointError:
        return False
    return True


def _copy(run: Path, to: Path, with_state: bool) -> None:
    checkpoint = newest_checkpoint(run)
    inside = to if checkpoint == run else to / "checkpoints" / checkpoint.name
    inside.mkdir(parents=True)
    for file in checkpoint.iterdir():
        if with_state or file.name != STATE_FILE:
            shutil.copy(file, inside)
    if with_state and (run / CONFIG_FILE).is_file():
        shutil.copy(run / CONFIG_FILE, to)


def _copy_of_zoo(spec: str, to: Path) -> None:
    policy = agents.load(spec)
    assert isinstance(policy, TwoPartPolicy)
    networks = {part: network_bytes(network, part) for part, network in policy.parts.items() if isinstance(network, NetworkPolicy)}
    save_agent(to, dict.fromkeys(networks, "network"), networks)
