"""Live columns: whatever can vary is among them, and a network in the full layout is the same function."""

import numpy as np
import pytest
import torch

from agents.canonical import canonical_states
from agents.networks import Actor
from pitchenv import Batch, Rules, games, load_rules
from pitchenv.actions import ACTIONS
from pitchenv.observation import RULE_COLUMNS, layout
from training.columns import in_full_layout, live_columns


@pytest.mark.parametrize("start", ["zero", "spread"])
@pytest.mark.parametrize("name", games())
def test_whatever_varies_is_live(name: str, start: str) -> None:
    rules = load_rules(name)
    batch = Batch(rules, 200, seed=1, restart=False, start_scores=start)
    seen, hidden = live_columns([rules], batch.layout, start == "spread")
    rng = np.random.default_rng(0)
    states = []
    while (rows := np.flatnonzero(batch.seat >= 0)).size:
        states.append(canonical_states(batch.matches, rows, batch.layout)[0])
        actions = np.zeros(200, np.int64)
        actions[rows] = (rng.random((rows.size, ACTIONS)) * batch.mask[rows]).argmax(1)
        batch.step(actions)
    state = np.concatenate(states)
    varies = np.flatnonzero(state.min(0) != state.max(0))
    f, cards, slots = batch.layout.size, 54, batch.layout.slots
    own = {*range(f, f + cards), *range(f + slots * cards, f + (slots + 1) * cards)}  # repeats the observation
    stock = set(range(f + 2 * slots * cards, f + (2 * slots + 1) * cards)) if not rules.widow + rules.redraw else set()
    assert set(varies) - set(seen) - set(hidden) - own - stock == set()
    needed = {name: set(range(*batch.layout.slices[name].indices(f))) for name in ("points_needed", "score_needed")}
    assert set(seen) & needed["points_needed"] <= set(varies)  # a column that training never varies must not be read
    assert len(seen) + len(hidden) < 0.85 * batch.layout.state_size


def test_of_the_rules_what_differs_between_the_games_is_live() -> None:
    games = [load_rules("smear"), load_rules("setback")]
    legend = layout(5)
    rows = np.stack([encoded_rules(rules, legend.slots) for rules in games])
    live, _ = live_columns(games, legend, False)
    assert set(live[live >= legend.slices["present"].start]) == set(np.flatnonzero(rows[0] != rows[1]))
    assert len(live[live >= legend.slices["rules"].start]) > 5
    changed, _ = live_columns([games[0], load_rules("setback", follow="suit")], legend, False)
    follow = legend.slices["rules"].start + RULE_COLUMNS.index("follow suit")
    assert follow in changed
    assert follow not in live


def encoded_rules(rules: Rules, slots: int) -> np.ndarray:
    """What stands in every observation under some rules; zeros elsewhere."""
    start = layout(slots).slices["present"].start
    batch = Batch(rules, 1, slots=slots)
    return np.where(np.arange(layout(slots).size) < start, 0, batch.observation[0])


def test_full_layout_is_the_same_function() -> None:
    rules = load_rules("auction-4-partners")
    batch = Batch(rules, 32, seed=2)
    batch.play_random(10)
    seen, _ = live_columns([rules], batch.layout, True)
    narrow = Actor(len(seen), (16, 8), ACTIONS)
    wide = in_full_layout(narrow, seen, batch.layout)
    observation, mask = torch.from_numpy(batch.observation), torch.from_numpy(batch.mask)
    assert torch.allclose(narrow(observation[:, seen], mask), wide(observation, mask), atol=1e-5)
