"""The folder of a ladder: what it is about, every part that has been played, and the agents that dropped out.

    ladder.json                  agents, rules, deals, seed, versions; the number of an agent is its place in the list
    parts/00-03/00007.json       the margins of part 7 between agents 0 and 3, exact, with a checksum
    voided.json                  agents whose games are void, and why
    lock                         held by the ladder that is at work

A file is written beside and renamed, so that a ladder that is killed at any moment goes on with what it has.
"""

import contextlib
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from pitchenv import Rules
from pitchenv.checks import InputError, read_json, shown
from training.files import LOCK_FILE, alone_in, write_file, writing
from training.ladder_play import Part
from training.result_file import versions

SETTINGS_FILE: Final = "ladder.json"
VOIDED_FILE: Final = "voided.json"
FORMAT: Final = "pitchenv-ladder-1"


@dataclass(frozen=True)
class Settings:
    """What a ladder is about."""

    specs: tuple[str, ...]
    digests: tuple[str | None, ...]
    rules: Rules
    deals: int
    seed: int

    def to_dict(self) -> dict[str, Any]:
        """As `ladder.json` has it."""
        return {
            "format": FORMAT,
            "agents": [{"agent": spec, "digest": digest} for spec, digest in zip(self.specs, self.digests, strict=True)],
            "rules": self.rules.to_dict(),
            "deals": self.deals,
            "seed": self.seed,
            "versions": versions(),
        }


class Store:
    """See the module. `settings` has the agents in the order of the folder."""

    def __init__(self, folder: Path, settings: Settings, voided: dict[str, str]) -> None:
        self.folder, self.settings, self.voided = folder, settings, voided
        self.damaged: list[str] = []  # files that are played again

    @classmethod
    @contextlib.contextmanager
    def open(cls, folder: Path, wanted: Settings) -> Iterator[Self]:
        """The ladder in a folder, a new one or one to go on with, for this process alone; it may have become longer or larger.

        Raises InputError, one line.
        """
        path = folder / SETTINGS_FILE
        if os.path.exists(path):  # False too for what no file can be called
            _read_settings(path)  # nothing is written beside a damaged one
        else:
            _make(folder)
        what = f"out = {str(folder)!r}"
        with alone_in(folder, what, f"{what}: another ladder is at work in it; allowed: to wait for it, or another folder"):
            if path.exists():
                settings = _extended(folder, _read_settings(path), wanted)
                store = cls(folder, settings, _read_voided(folder / VOIDED_FILE, settings.specs))
            else:
                store = cls(folder, wanted, {})
            store._write(SETTINGS_FILE, store.settings.to_dict())
            yield store

    def retry(self) -> None:
        """Forget that agents dropped out, and all that they have played: they may have been mended."""
        out = {self.settings.specs.index(spec) for spec in self.voided}
        with writing(f"out = {str(self.folder)!r}"):
            for table in (self.folder / "parts").glob("*/"):
                if out.intersection(int(number) for number in table.name.split("-") if number.isdigit()):
                    shutil.rmtree(table)
            (self.folder / VOIDED_FILE).unlink(missing_ok=True)
        self.voided.clear()

    def void(self, spec: str, reason: str) -> None:
        """An agent drops out."""
        self.voided[spec] = reason
        self._write(VOIDED_FILE, self.voided)

    def path(self, part: Part) -> Path:
        """The file of a part."""
        return self.folder / "parts" / "-".join(f"{number:02d}" for number in part.table) / f"{part.part:05d}.json"

    def read(self, part: Part) -> NDArray[np.float64] | None:
        """The margins (pairs, deals) of a part; None if it has not been played, or is shorter, or its file is damaged."""
        path = self.path(part)
        try:
            content = read_json(path)
            margins = np.array(content["margins"], np.float64)
            whole = content["sha256"] == _checksum(content) and (content["part"], content["size"]) == (part.part, part.size)
            whole = whole and content["agents"] == list(part.specs) and margins.shape == (len(part.pairs), content["deals"])
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError):
            whole = False
        if not whole:
            name = str(path.relative_to(self.folder))
            if name not in self.damaged:
                self.damaged.append(name)
            return None
        return margins if content["deals"] == part.deals else None  # a last part that was short; whole now

    def write(self, part: Part, margins: NDArray[np.float64]) -> None:
        """Keep what a part came to."""
        content = {"agents": part.specs, "part": part.part, "size": part.size, "deals": part.deals, "margins": margins.tolist()}
        self.write_file(self.path(part), json.dumps({**content, "sha256": _checksum(content)}).encode())

    def write_file(self, path: Path, content: bytes) -> None:
        """Write a file of the folder. Raises InputError."""
        with writing(f"out = {str(self.folder)!r}: {path.name}"):
            path.parent.mkdir(parents=True, exist_ok=True)
            write_file(path, content)

    def _write(self, name: str, content: dict[str, Any]) -> None:
        self.write_file(self.folder / name, (json.dumps(content, indent=1) + "\n").encode())


def _checksum(content: dict[str, Any]) -> str:
    """Of everything else in a part's file; a float's text is exact, so the numbers are."""
    return sha256(json.dumps({key: value for key, value in content.items() if key != "sha256"}).encode()).hexdigest()


def _make(folder: Path) -> None:
    try:
        if not folder.name:
            raise OSError(0, "not a folder's name")
        folder.mkdir(parents=True, exist_ok=True)
        strangers = sorted(path.name for path in folder.iterdir() if path.name != LOCK_FILE and not path.name.endswith(".tmp"))
    except (OSError, ValueError) as fault:
        why = getattr(fault, "strerror", None) or "not a folder's name"
        raise InputError(f"out = {shown(str(folder))}: cannot be written: {why}") from None
    if strangers:
        raise InputError(f"out = {str(folder)!r}: holds {strangers[0]!r}, no {SETTINGS_FILE}; allowed: a new folder, or that of a ladder")


def _read_settings(path: Path) -> dict[str, Any]:
    try:
        found = read_json(path)
        if found["format"] != FORMAT:
            raise ValueError(f"format {found['format']!r}; allowed: {FORMAT!r}")
        specs = [agent["agent"] for agent in found["agents"] if "digest" in agent]
        if not all(isinstance(spec, str) for spec in specs) or len(set(specs)) < len(found["agents"]):
            raise ValueError("agents: allowed: each once, as text, with its digest")
        _ = found["deals"] + found["seed"], found["rules"].items(), found["versions"].items()
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as fault:
        raise InputError(f"out: {str(path)!r} is damaged: {' '.join(f'{type(fault).__name__}: {fault}'.split())[:160]}") from None
    return dict(found)


def _read_voided(path: Path, specs: Sequence[str]) -> dict[str, str]:
    try:
        voided = {str(spec): str(reason) for spec, reason in read_json(path).items()}
        if others := voided.keys() - set(specs):
            raise ValueError(f"names {min(others)!r}, who is not in the ladder")
        return voided
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, AttributeError) as fault:
        raise InputError(f"out: {str(path)!r} is damaged: {' '.join(str(fault).split())[:160]}; allowed: to delete it") from None


def _extended(folder: Path, found: dict[str, Any], wanted: Settings) -> Settings:
    """What is wanted, with the agents in the folder's order and new ones behind; refuses what is no extension of what is there."""
    here = f"the ladder in {str(folder)!r}"
    asked = wanted.to_dict()
    for what in ("rules", "versions"):
        for name, value in asked[what].items():
            if found[what].get(name) != value:
                raise InputError(f"{what}: {name} = {shown(value)}; {here} has {shown(found[what].get(name))}; allowed: the same")
    if found["seed"] != wanted.seed:
        raise InputError(f"seed = {wanted.seed}; {here} has {found['seed']}; allowed: the same")
    if wanted.deals < found["deals"]:
        raise InputError(f"deals = {wanted.deals}; {here} has {found['deals']}; allowed: as many, or more")
    digests = dict(zip(wanted.specs, wanted.digests, strict=True))
    for agent in found["agents"]:
        if agent["agent"] not in digests:
            raise InputError(f"agents: {agent['agent']!r} is missing, and is in {here}; allowed: the same, or more")
        if digests[agent["agent"]] != agent["digest"]:
            raise InputError(f"agent {agent['agent']!r}: its checkpoint is not the one in {here}; allowed: the same, or another folder")
    known = [agent["agent"] for agent in found["agents"]]
    specs = [*known, *(spec for spec in wanted.specs if spec not in known)]
    return replace(wanted, specs=tuple(specs), digests=tuple(digests[spec] for spec in specs))
