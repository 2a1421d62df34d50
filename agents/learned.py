"""Learned players: a *bidding* network for auction and trump, a *play* network for exchange and tricks.

Each network is one safetensors file that says what it is (its card: part, rules, observation layout, sizes), so that each can be loaded,
replaced and shared on its own. Where only one part was learned, the other is played by any policy.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.torch import save

from agents.canonical import canonical_observations, original_actions
from agents.networks import Actor
from pitchenv import Rules
from pitchenv.actions import ACTIONS
from pitchenv.cards import SUITS
from pitchenv.checks import InputError, read_json
from pitchenv.engine.state import TRUMP
from pitchenv.observation import LAYOUT_VERSION, layout, observe
from pitchenv.policies import Policy

PARTS: Final = ("bidding", "play")
FORMAT: Final = "pitchenv-policy-1"
AGENT_FILE: Final = "agent.json"


class CheckpointError(InputError):
    """A file or folder that is no usable checkpoint, or is one for something else; one line."""


def is_bidding(views: NDArray[Any]) -> NDArray[np.bool_]:
    """Which of an array of views are for the bidding part: auction and naming trump."""
    bidding: NDArray[np.bool_] = views["public"]["phase"] <= TRUMP
    return bidding


class NetworkPolicy:
    """A network as a policy: the likeliest action (`greedy`), or one drawn from its probabilities."""

    reads: Literal["observation", "view"] = "view"

    def __init__(
        self, actor: Actor, rules: Rules, slots: int, *, canonical_suits: bool = True, greedy: bool = True, any_rules: bool = False
    ) -> None:
        self.actor, self.rules, self.slots, self.canonical_suits = actor.eval(), rules, slots, canonical_suits
        self.greedy, self.any_rules = greedy, any_rules
        self._random = torch.Generator()

    def reset(self, rules: Rules, size: int, seed: int) -> None:
        """Refuses, with CheckpointError, rules that the network was not trained for (unless it takes any)."""
        if rules != self.rules and not self.any_rules:
            theirs, ours = rules.to_dict(), self.rules.to_dict()
            field = next(name for name in ours if ours[name] != theirs[name])
            raise CheckpointError(f"{field} = {theirs[field]!r}: this network was trained for other rules; allowed: {ours[field]!r}")
        if rules.players > self.slots:
            raise CheckpointError(f"players = {rules.players}: this network has slots for {self.slots} seats")
        self._random.manual_seed(seed % 2**63)

    @property
    def samples(self) -> bool:
        """Whether it draws its actions from its probabilities."""
        return not self.greedy

    @torch.no_grad()
    def probabilities(self, inputs: NDArray[Any], mask: NDArray[np.bool_], seat: NDArray[np.integer[Any]]) -> NDArray[np.float32]:
        """The chance of each action, (n, 70) float32."""
        logits, original = self._logits(inputs, mask)
        chances = np.zeros(mask.shape, np.float32)
        np.put_along_axis(chances, original, torch.softmax(logits, -1).numpy(), 1)
        return chances

    @torch.no_grad()
    def act(self, inputs: NDArray[Any], mask: NDArray[np.bool_], seat: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """The chosen actions (n,)."""
        logits, original = self._logits(inputs, mask)
        chosen = logits.argmax(-1) if self.greedy else torch.multinomial(torch.softmax(logits, -1), 1, generator=self._random).squeeze(-1)
        actions: NDArray[np.int64] = np.take_along_axis(original, chosen.numpy()[:, None], 1)[:, 0]
        return actions

    def _logits(self, views: NDArray[Any], mask: NDArray[np.bool_]) -> tuple[torch.Tensor, NDArray[np.int64]]:
        """The network's logits (n, 70), and what action each of them is for (n, 70)."""
        if self.canonical_suits:
            observation, to = canonical_observations(views, self.slots)
        else:
            observation, to = observe(views, self.slots), np.tile(np.arange(SUITS), (len(views), 1))
        original = original_actions(to)
        return self.actor(torch.from_numpy(observation), torch.from_numpy(np.take_along_axis(mask, original, 1))), original


class TwoPartPolicy:
    """One policy for auction and trump, another for exchange and tricks."""

    reads: Literal["observation", "view"] = "view"

    def __init__(self, bidding: Policy, play: Policy) -> None:
        self.parts: dict[str, Policy] = {"bidding": bidding, "play": play}
        self.named: dict[str, str] = {}  # by part, the specs of those that `load_run` has loaded by name

    @property
    def slow(self) -> bool:
        """Whether either part is."""
        return any(getattr(part, "slow", False) for part in self.parts.values())

    @property
    def samples(self) -> bool:
        """Whether either part draws its actions from its probabilities."""
        return any(getattr(part, "samples", False) for part in self.parts.values())

    def reset(self, rules: Rules, size: int, seed: int) -> None:
        """Resets both parts."""
        for k, part in enumerate(self.parts.values()):
            part.reset(rules, size, seed * 2 + k)

    def act(self, inputs: NDArray[Any], mask: NDArray[np.bool_], seat: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """The chosen actions (n,), each from the part whose phase it is."""
        return self._ask(lambda policy, *rows: policy.act(*rows), np.zeros(len(seat), np.int64), inputs, mask, seat)

    def probabilities(self, inputs: NDArray[Any], mask: NDArray[np.bool_], seat: NDArray[np.integer[Any]]) -> NDArray[np.float32]:
        """The chance of each action (n, 70); a part that has no `probabilities` is taken to be sure of what it does."""
        return self._ask(probabilities_of, np.zeros((len(seat), ACTIONS), np.float32), inputs, mask, seat)

    def _ask(
        self, question: Callable[..., NDArray[Any]], answers: NDArray[Any], views: NDArray[Any], mask: NDArray[np.bool_], seat: NDArray[Any]
    ) -> NDArray[Any]:
        bidding = is_bidding(views)
        for part, rows in (("bidding", bidding), ("play", ~bidding)):
            if rows.any():
                policy = self.parts[part]
                answers[rows] = question(policy, inputs_for(policy, views[rows]), mask[rows], seat[rows])
        return answers


def inputs_for(policy: Policy, views: NDArray[Any]) -> NDArray[Any]:
    """What a policy reads, from views on one game's rules."""
    return views if policy.reads == "view" else observe(views, int(views["public"]["rules"]["players"][0]))


def probabilities_of(policy: Any, inputs: NDArray[Any], mask: NDArray[np.bool_], seat: NDArray[Any]) -> NDArray[np.float32]:
    """A policy's probabilities, or certainty where it states none."""
    if hasattr(policy, "probabilities"):
        stated: NDArray[np.float32] = policy.probabilities(inputs, mask, seat)
        return stated
    certain = np.zeros(mask.shape, np.float32)
    certain[np.arange(len(mask)), policy.act(inputs, mask, seat)] = 1
    return certain


def network_card(policy: NetworkPolicy, part: str) -> dict[str, Any]:
    """What a file says of a network: enough to load it, and to tell what it is for."""
    hidden = [layer.out_features for layer in policy.actor.layers if isinstance(layer, torch.nn.Linear)][:-1]
    return {
        "format": FORMAT, "part": part, "layout": LAYOUT_VERSION, "slots": policy.slots, "hidden": hidden,
        "canonical_suits": policy.canonical_suits, "any_rules": policy.any_rules, "rules": policy.rules.to_dict(),
    }  # fmt: skip


def network_bytes(policy: NetworkPolicy, part: str) -> bytes:
    """A network with its card, as the bytes of a safetensors file."""
    weights = {name: tensor.detach().cpu().contiguous() for name, tensor in policy.actor.state_dict().items()}
    return save(weights, {"card": json.dumps(network_card(policy, part))})


def read_tensors(path: Path, what: str) -> tuple[Any, dict[str, torch.Tensor]]:
    """The card of a safetensors file (None without one) and its tensors. Raises CheckpointError, which begins with `what`."""
    try:
        with safe_open(path, "pt") as file:
            card = json.loads((file.metadata() or {}).get("card", "null"))
            return card, {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
    except FileNotFoundError:
        raise CheckpointError(f"{what}: no such file") from None
    except (SafetensorError, OSError, ValueError, RecursionError) as fault:
        raise CheckpointError(f"{what}: damaged or no safetensors file: {' '.join(str(fault).split())}") from None


def load_network(path: Path, part: str, *, greedy: bool = True) -> NetworkPolicy:
    """A network from its file. Raises CheckpointError when the file is missing, damaged, foreign, or of another part or layout."""
    what = f"checkpoint {str(path)!r}"
    return network_of(*read_tensors(path, what), part, what, greedy=greedy)


def network_of(card: Any, weights: dict[str, torch.Tensor], part: str, what: str, *, greedy: bool = True) -> NetworkPolicy:
    """A network from its card and weights. Raises CheckpointError, which begins with `what`, when it is foreign, of another part or
    layout, or when the two do not fit."""
    if not isinstance(card, dict) or card.get("format") != FORMAT:
        raise CheckpointError(f"{what}: not a network of this kit; allowed: format {FORMAT!r}")
    for field, wanted in (("part", part), ("layout", LAYOUT_VERSION)):
        if card.get(field) != wanted:
            raise CheckpointError(f"{what}: {field} = {card.get(field)!r}; allowed: {wanted!r}")
    try:
        actor = Actor(layout(card["slots"]).size, tuple(card["hidden"]), ACTIONS)
        actor.load_state_dict(weights)
        options = {name: bool(card[name]) for name in ("canonical_suits", "any_rules")}
        return NetworkPolicy(actor, Rules.from_dict(card["rules"]), card["slots"], greedy=greedy, **options)
    except (KeyError, TypeError, ValueError, RuntimeError) as fault:
        raise CheckpointError(f"{what}: its card and weights do not fit: {' '.join(str(fault).split())[:200]}") from None


def load_run(path: Path, *, greedy: bool = True) -> TwoPartPolicy:
    """The player of a run: of its newest checkpoint, or of the checkpoint folder given. Raises CheckpointError."""
    from agents import PLAYERS, load

    folder = newest_checkpoint(path)
    try:
        parts = read_json(folder / AGENT_FILE)
        sources = {part: parts[part] for part in PARTS}
        # What an agent plays with lies beside its description, or has a name: never another run, which may change.
        if not all(source == "network" or ":" in source or source in PLAYERS for source in sources.values()):
            raise ValueError
    except (OSError, ValueError, KeyError, TypeError):
        raise CheckpointError(f"checkpoint {str(folder)!r}: {AGENT_FILE} is missing or damaged") from None
    players: dict[str, Policy] = {}
    for part, source in sources.items():
        network = source == "network"
        players[part] = load_network(folder / f"{part}.safetensors", part, greedy=greedy) if network else load(source)
    policy = TwoPartPolicy(**players)
    policy.named = {part: source for part, source in sources.items() if source != "network"}
    return policy


def newest_checkpoint(path: Path) -> Path:
    """The folder of the newest whole checkpoint of a run, or `path` itself if it is one. Raises CheckpointError."""
    if (path / AGENT_FILE).exists():
        return path
    found = sorted(p for p in (path / "checkpoints").glob("[0-9]*") if p.name.isdigit() and (p / AGENT_FILE).exists())
    if not found:
        raise CheckpointError(f"run {str(path)!r}: holds no checkpoint; allowed: a folder made by `python -m training train`")
    return found[-1]
