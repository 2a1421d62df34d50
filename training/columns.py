"""The columns of a state that can differ between decisions under one game's rules. Networks learn on these alone, since the rest
(the rules themselves, cards not in the pack, bids that can't be made) would cost half of every matrix product and teach nothing;
saved, they stand in the full layout, with zeros for what they never saw."""

from collections.abc import Sequence
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray

from agents.networks import Actor
from pitchenv import Rules
from pitchenv.cards import CARDS, HIGH_JOKER, pack
from pitchenv.engine.encode import NEEDED_COLUMNS, PRESENT, TRICK_COLUMNS, encode_fixed
from pitchenv.observation import Layout

FIRST: Final = "layers.0.weight"  # of a network


def live_columns(games: Sequence[Rules], legend: Layout, scores: bool) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The live columns of an observation, and of what follows it in a full state (numbered from the state's beginning).

    Of several games, mixed in one batch: those that are live in any of them, with those of the rules and of who sits where in which they
    differ. `scores`: whether deals start from different scores. (A network that read what never varied in training, such as the score where
    all deals start from 0, would do anything where it is something else.)
    """
    kinds = list(dict.fromkeys(games))
    seen, hidden = (np.logical_or.reduce(block) for block in zip(*(_live(rules, legend, scores) for rules in kinds), strict=True))
    fixed = np.stack([fixed_pieces(rules, legend) for rules in kinds])
    seen[-fixed.shape[1] :] = fixed.min(axis=0) != fixed.max(axis=0)
    return np.flatnonzero(seen), legend.size + np.flatnonzero(hidden)


def fixed_pieces(rules: Rules, legend: Layout) -> NDArray[np.float32]:
    """The end of every observation under some rules: who sits where, and the rules themselves."""
    out = np.zeros(legend.size, np.float32)
    encode_fixed(rules.packed[0], legend.at, out)
    return out[legend.at[PRESENT] :]


def _live(rules: Rules, legend: Layout, scores: bool) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which columns of an observation (F,), and of what follows it, can vary under one game's rules."""
    in_pack = np.zeros(CARDS, np.bool_)
    in_pack[pack(rules.lowest_rank, rules.jokers)] = True
    exchanges = rules.redraw > 0 or rules.hand_size + rules.widow > rules.tricks
    bids = np.arange(1, 11)
    can_bid = (bids >= rules.min_bid) & (bids <= rules.max_bid)
    trick = np.ones(TRICK_COLUMNS, np.bool_)
    trick[4:17] = np.arange(2, 15) >= rules.lowest_rank
    trick[17:] = in_pack[HIGH_JOKER:]
    needed = np.full(NEEDED_COLUMNS, scores)
    needed[0] &= rules.win in ("pitcher", "made_bid")  # else a side at the target has won, but for a tie
    narrowed: dict[str, NDArray[np.bool_] | bool] = {
        "hand": in_pack, "put_away": in_pack & exchanges, "played": in_pack, "trick": trick, "tricks_done": np.arange(13) < rules.tricks,
        "bids": can_bid, "standing_bid": can_bid, "redrawn": rules.redraw > 0, "discarded": exchanges,
        "points_needed": needed, "score_needed": scores,
    }  # fmt: skip
    seen = []
    for piece in legend.pieces:
        rows = {"seat": rules.players, "side": rules.sides}.get(piece.row_name, 1)
        block = np.zeros((piece.rows, len(piece.columns)), np.bool_)
        block[:rows] = narrowed.get(piece.name, True)
        seen.append(block.ravel())
    hidden = np.zeros((2 * legend.slots + 1, CARDS), np.bool_)
    hidden[1 : rules.players] = in_pack  # slot 0 is in the observation
    hidden[legend.slots + 1 : legend.slots + rules.players] = in_pack & exchanges
    hidden[-1] = in_pack & (rules.widow + rules.redraw > 0)  # nobody draws from the stock otherwise
    return np.concatenate(seen), hidden.ravel()


def in_full_layout(actor: Actor, columns: NDArray[np.int64], legend: Layout) -> Actor:
    """The same network, reading whole observations."""
    return _reading(actor, _widened(actor, columns, legend.size))


def in_columns(actor: Actor, standing: NDArray[np.int64], columns: NDArray[np.int64], legend: Layout) -> Actor:
    """The same network, reading some columns of the layout `legend`, in which what it reads now stands at `standing`. Raises ValueError
    where it would miss some."""
    wide = _widened(actor, standing, legend.size)
    missed = torch.ones(legend.size, dtype=torch.bool)
    missed[torch.from_numpy(columns)] = False
    if wide[:, missed].any():
        raise ValueError("reads more than these columns")
    return _reading(actor, wide[:, ~missed])


def among_more_slots(few: Layout, many: Layout) -> NDArray[np.int64]:
    """Where the columns of an observation with few slots stand in one with as many or more: slots that both have come first in a piece."""
    return np.concatenate([at + np.arange(piece.size) for at, piece in zip(many.at, few.pieces, strict=False)])


def _widened(actor: Actor, columns: NDArray[np.int64], size: int) -> torch.Tensor:
    """The weights of a network's first layer, with zeros for the columns of a wider input that it does not read."""
    weights = actor.state_dict()[FIRST].cpu()
    wide = torch.zeros(len(weights), size)
    wide[:, torch.from_numpy(columns)] = weights
    return wide


def _reading(actor: Actor, first: torch.Tensor) -> Actor:
    """A copy of a network, on the CPU, with other weights in its first layer."""
    weights = {name: tensor.detach().cpu().clone() for name, tensor in actor.state_dict().items()}
    hidden = tuple(layer.out_features for layer in actor.layers if isinstance(layer, torch.nn.Linear))
    copy = Actor(first.shape[1], hidden[:-1], hidden[-1])
    copy.load_state_dict({**weights, FIRST: first})
    return copy
