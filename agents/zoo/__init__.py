"""Trained agents that ship: `agents.load("zoo:NAME")`. How they are made, measured and packed: `python -m training zoo`.

An agent is three files that say the same: NAME.safetensors (both networks in float16, each with its card), NAME.json (how it was trained,
its figures, and the checksum of the weights) and NAME.md (the same for people). It is played as it is stored, so its figures are those of
the float16 weights. Folders in the environment variable PITCHENV_ZOO are looked into before the one that ships.
"""

import hashlib
import json
import os
import re
from pathlib import Path
from typing import Any, Final

import torch
from safetensors.torch import save

from agents.learned import PARTS, CheckpointError, NetworkPolicy, TwoPartPolicy, network_card, network_of, read_tensors
from pitchenv.checks import near, read_json, shown

FORMAT: Final = "pitchenv-zoo-1"  # of the weights
CARD_FORMAT: Final = "pitchenv-zoo-card-1"  # of the JSON beside them
SHIPPED: Final = Path(__file__).parent
FOLDERS: Final = "PITCHENV_ZOO"  # environment variable: more folders, as in PATH
MOST_BYTES: Final = 5_000_000  # of the weights
MOST_FLOAT16: Final = float(torch.finfo(torch.float16).max)
NAME: Final = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
PIN: Final = 8  # digits of a checksum in a pinned spec


class ZooError(CheckpointError):
    """No such agent, or one whose files are damaged, disagree, or are for something else; one line."""


def folders() -> list[Path]:
    """Where agents are looked for, in order."""
    return [*(Path(folder) for folder in os.environ.get(FOLDERS, "").split(os.pathsep) if folder), SHIPPED]


def names() -> list[str]:
    """The agents that there are, by name."""
    return sorted({path.stem for folder in folders() for path in folder.glob("*.json") if path.with_suffix(".safetensors").is_file()})


def find(name: str) -> Path:
    """The folder that an agent is in: the first that has it. Raises ZooError for an unknown name, with the nearest known one."""
    for folder in folders():
        if NAME.fullmatch(name) and all((folder / f"{name}{kind}").is_file() for kind in (".json", ".safetensors")):
            return folder
    known = names()
    raise ZooError(f"agent {shown('zoo:' + name)}: unknown{near(name, known)}; allowed: {', '.join(known) or 'none, the zoo is empty'}")


def card(name: str) -> dict[str, Any]:
    """The JSON of an agent: how it was trained, what it was measured at, the checksum of its weights. Raises ZooError."""
    return read_card(find(name) / f"{name}.json")


def read_card(path: Path) -> dict[str, Any]:
    """The same from its file. Raises ZooError."""
    try:
        fields = read_json(path)
        if not isinstance(fields, dict) or fields["format"] != CARD_FORMAT or not isinstance(fields["sha256"], str):
            raise ValueError
    except (OSError, ValueError, KeyError):
        raise ZooError(f"zoo file {str(path)!r}: missing, damaged or no card; allowed: format {CARD_FORMAT!r}") from None
    return fields


def load(spec: str, *, greedy: bool = True) -> TwoPartPolicy:
    """The agent `NAME`, or `NAME@CHECKSUM` (the first digits of it), doing what its networks hold likeliest, or else drawing from their
    probabilities. Raises ZooError where there is none, and where its checksum or layout is another; `reset` refuses other rules.
    """
    name, at, pin = spec.partition("@")
    folder = find(name)
    path, wanted = folder / f"{name}.safetensors", read_card(folder / f"{name}.json")["sha256"]
    found = checksum(path)
    if found != wanted:
        raise ZooError(f"zoo file {str(path)!r}: damaged, or not the one of its card: sha256 = {found[:16]}…; allowed: {wanted[:16]}…")
    if at and (len(pin) < PIN or not found.startswith(pin)):
        raise ZooError(
            f"agent {shown('zoo:' + spec)}: it has the checksum {found[:PIN]}…; allowed: zoo:{name}@{found[:PIN]}, or zoo:{name}"
        )
    return unpack(path, greedy=greedy)


def checksum(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal. Raises ZooError."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as fault:
        raise ZooError(f"zoo file {str(path)!r}: cannot be read: {fault.strerror}") from None


def pinned(spec: str) -> str:
    """A spec with the checksums of its zoo agents added, so that it can't come to mean others. Raises ZooError.

    `"search:zoo:smear,worlds=9"` becomes `"search:zoo:smear@1f0c3b9a,worlds=9"`.
    """
    return re.sub(r"(?<![^:,=])zoo:([^:,=@]+)(?=$|[,:=])", lambda found: f"zoo:{found[1]}@{card(found[1])['sha256'][:PIN]}", spec)


def packed(policy: TwoPartPolicy) -> bytes:
    """Both networks of an agent as a safetensors file: float16 tensors `bidding.…` and `play.…`, cards in the metadata. Raises ZooError."""
    cards: dict[str, Any] = {}
    tensors: dict[str, torch.Tensor] = {}
    for part in PARTS:
        network = policy.parts[part]
        if not isinstance(network, NetworkPolicy):
            raise ZooError(f"part {part!r}: a {type(network).__name__}; allowed in the zoo: a network")
        cards[part] = network_card(network, part)
        for name, tensor in network.actor.state_dict().items():
            if not bool((tensor.abs() <= MOST_FLOAT16).all()):
                raise ZooError(f"{part}.{name}: has a weight that float16 can't hold; allowed: −{MOST_FLOAT16:.0f} … {MOST_FLOAT16:.0f}")
            tensors[f"{part}.{name}"] = tensor.detach().cpu().half().contiguous()
    content = save(tensors, {"card": json.dumps({"format": FORMAT, "parts": cards})})
    if len(content) > MOST_BYTES:
        raise ZooError(f"weights of {len(content):,} bytes: allowed in the zoo: at most {MOST_BYTES:,}; narrower layers make fewer")
    return content


def unpack(path: Path, *, greedy: bool = True) -> TwoPartPolicy:
    """The agent of such a file, in float32 again. Raises ZooError."""
    what = f"zoo file {str(path)!r}"
    try:
        whole, tensors = read_tensors(path, what)
        if not isinstance(whole, dict) or whole.get("format") != FORMAT or not isinstance(whole.get("parts"), dict):
            raise ZooError(f"{what}: not an agent of this kit; allowed: format {FORMAT!r}")
        networks = {
            part: network_of(whole["parts"].get(part), _of_part(tensors, part), part, f"{what}, {part}", greedy=greedy) for part in PARTS
        }
    except CheckpointError as fault:
        raise ZooError(str(fault)) from None
    return TwoPartPolicy(**networks)


def _of_part(tensors: dict[str, torch.Tensor], part: str) -> dict[str, torch.Tensor]:
    prefix = f"{part}."
    return {name.removeprefix(prefix): tensor.float() for name, tensor in tensors.items() if name.startswith(prefix)}
