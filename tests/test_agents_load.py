"""`agents.load`: every player of the kit by name; a bad spec is one clear line."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

import agents
from agents.learned import NetworkPolicy, network_bytes
from agents.networks import Actor
from pitchenv import Batch, load_rules
from pitchenv.observation import layout
from pitchenv.policies.heuristic import HeuristicPolicy
from pitchenv.policies.heuristic.parameters import UNTUNED
from pitchenv.policies.random import RandomPolicy

MODULE = """
import numpy as np

class First:
    reads = "observation"
    def reset(self, rules, size, seed): pass
    def act(self, inputs, mask, seat): return mask.argmax(axis=1)

class NeedsMore(First):
    def __init__(self, depth): pass

class ReadsMatches(First):
    reads = "match"

class NoAct:
    reads = "view"
    def reset(self, rules, size, seed): pass

class Speechless(Exception):
    def __str__(self): raise RuntimeError("no words")

class CannotSayWhy(First):
    def __init__(self): raise Speechless

instance = 3
"""


@pytest.fixture
def own_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A module of a user's own on the path."""
    (tmp_path / "own_players.py").write_text(MODULE)
    (tmp_path / "broken_players.py").write_text("import nothing_like_it\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    return "own_players"


def test_players_by_name() -> None:
    assert isinstance(agents.load("random"), RandomPolicy)
    assert isinstance(agents.load("heuristic"), HeuristicPolicy)


def test_untuned_is_another_player() -> None:
    batch = Batch("auction-4-partners", 300, seed=1)
    views = batch.views()
    answers = [policy.act(views, batch.mask, batch.seat) for policy in map(agents.load, ("heuristic", "heuristic:untuned"))]
    assert (answers[1] == HeuristicPolicy(UNTUNED).act(views, batch.mask, batch.seat)).all()
    assert (answers[0] != answers[1]).any()


def test_players_are_imported_when_asked_for() -> None:
    script = (
        "import sys, agents; agents.load('random'); agents.load('heuristic'); print([n for n in sys.modules if n.startswith('agents.')])"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[1])
    assert said.stdout == "[]\n"


def test_sampled_draws_from_the_probabilities_of_a_run(tmp_path: Path) -> None:
    rules = load_rules("auction-4-partners")
    torch.manual_seed(1)
    for part in ("bidding", "play"):
        actor = Actor(layout(4).size, (8,), 70)
        with torch.no_grad():
            actor.layers[-1].bias.normal_()
        (tmp_path / f"{part}.safetensors").write_bytes(network_bytes(NetworkPolicy(actor, rules, 4), part))
    (tmp_path / "agent.json").write_text('{"bidding": "network", "play": "network"}')
    batch = Batch(rules, 4000, seed=1)
    views, mask, seat = (np.repeat(a[:1], 4000, axis=0) for a in (batch.views(), batch.mask, batch.seat))
    likeliest, drawn = agents.load(tmp_path), agents.load(f"sampled:{tmp_path}")
    for policy in (likeliest, drawn):
        policy.reset(rules, 4000, 3)
    chances = drawn.probabilities(views[:1], mask[:1], seat[:1])[0]  # type: ignore[attr-defined]
    assert set(likeliest.act(views, mask, seat).tolist()) == {int(chances.argmax())}
    shares = np.bincount(drawn.act(views, mask, seat), minlength=70) / 4000
    assert np.count_nonzero(shares) == mask[0].sum()
    assert np.abs(shares - chances).max() < 0.04  # five standard deviations


def test_a_class_of_ones_own(own_module: str) -> None:
    policy = agents.load(f"{own_module}:First")
    policy.reset(load_rules("smear"), 4, 0)
    batch = Batch("smear", 4, seed=1)
    assert policy.act(batch.observation, batch.mask, batch.seat).tolist() == batch.mask.argmax(axis=1).tolist()
    assert policy.reads == "observation"


def test_each_call_loads_another_player() -> None:
    first, second = agents.load("random"), agents.load("random")
    assert first is not second
    mask = np.ones((50, 70), np.bool_)
    rows = np.zeros(50, np.int64)
    for policy in (first, second):
        policy.reset(load_rules("smear"), 50, 7)
    assert (first.act(rows, mask, rows) == second.act(rows, mask, rows)).all()


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("", ["agent ''", "unknown", "random"]),
        ("heuristik", ["agent 'heuristik'", "did you mean 'heuristic'?", "module:Class"]),
        ("heuristik:untuned", ["heuristik", "does not import", "did you mean 'heuristic'?"]),
        ("heuristic:untund", ["untund", "did you mean 'untuned'?"]),
        ("random:3", ["option of agent 'random'", "'3'", "none"]),
        ("x" * 256, ["agent 'xxx", "unknown"]),
        ("sampled:" + "x" * 300, ["is no run"]),
        ("runs/never-run", ["agent 'runs/never-run'", "does not exist", "run"]),
        ("no_such_module:Player", ["no_such_module", "does not import", "ModuleNotFoundError"]),
        ("broken_players:Player", ["broken_players", "nothing_like_it"]),
        ("own_players:Frist", ["no class 'Frist'", "did you mean 'First'?"]),
        ("own_players:instance", ["'instance'", "class"]),
        ("own_players:NeedsMore", ["NeedsMore", "depth", "no arguments"]),
        ("own_players:ReadsMatches", ["reads = 'match'", "observation, view"]),
        ("own_players:CannotSayWhy", ["CannotSayWhy() fails: Speechless;"]),
        ("own_players:NoAct", ["NoAct", "no method 'act'"]),
        ("own_players:", ["own_players:", "no class ''"]),
        (":Player", ["agent ':Player'", "unknown"]),
        ("ismct", ["did you mean 'ismcts'?", "random, heuristic, zoo, sampled, pimc, ismcts, search, a run folder"]),
        ("sampled", ["agent 'sampled': '' is no run", "sampled:RUN"]),
        ("sampled:runs/never-run", ["'runs/never-run' is no run"]),
        ("sampled:heuristic", ["'heuristic' is no run"]),
        ("pimc:worlds=0", ["agent 'pimc': worlds = '0'", "a whole number, 1 …"]),
        ("pimc:wordls=3", ["option 'wordls'", "did you mean 'worlds'?"]),
        ("ismcts:iterations=many", ["agent 'ismcts': iterations = 'many'", "a whole number, 1 …"]),
        ("search:heuristic,worlds=0", ["agent 'search': worlds = '0'"]),
    ],
)
def test_a_bad_spec_is_one_clear_line(spec: str, said: list[str], own_module: str) -> None:
    with pytest.raises(ValueError, match="agent") as refusal:
        agents.load(spec)
    message = str(refusal.value)
    assert "\n" not in message
    assert len(message) < 400
    for words in said:
        assert words in message, message


def test_a_file_is_no_run(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("")
    with pytest.raises(ValueError, match=r"is a file; allowed: the folder of a run"):
        agents.load(str(tmp_path / "run"))


@pytest.mark.parametrize("spec", ["x" * 3000, "a\0b", None, 5, b"random"])
def test_what_is_no_spec_is_refused(spec: object) -> None:
    with pytest.raises(agents.AgentError, match="not a spec") as fault:
        agents.load(spec)  # type: ignore[arg-type]
    assert len(str(fault.value).splitlines()) == 1
