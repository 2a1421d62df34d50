"""The zoo: agents that ship, checked before they play; damaged, foreign and unknown ones refused in one line."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load, save

import agents
from agents import zoo
from agents.learned import NetworkPolicy, TwoPartPolicy
from agents.networks import Actor
from agents.search.lookahead import LookAhead
from agents.search.pimc import Pimc
from pitchenv import Batch, Rules, load_rules
from pitchenv.observation import layout
from pitchenv.policies.random import RandomPolicy

Pack = Callable[..., bytes]


def random_agent(rules: Rules, slots: int, any_rules: bool = False, hidden: tuple[int, ...] = (12,)) -> TwoPartPolicy:
    """Two networks that know nothing, with opinions."""
    parts = {}
    for part in ("bidding", "play"):
        actor = Actor(layout(slots).size, hidden, 70)
        torch.nn.init.normal_(actor.layers[-1].weight)
        parts[part] = NetworkPolicy(actor, rules, slots, any_rules=any_rules)
    return TwoPartPolicy(**parts)


@pytest.fixture
def put(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pack:
    """Puts an agent into a zoo that is looked into first."""
    monkeypatch.setenv(zoo.FOLDERS, str(tmp_path))
    torch.manual_seed(5)

    def put_agent(name: str, policy: TwoPartPolicy) -> bytes:
        content = zoo.packed(policy)
        (tmp_path / f"{name}.safetensors").write_bytes(content)
        card = {"format": zoo.CARD_FORMAT, "name": name, "sha256": hashlib.sha256(content).hexdigest()}
        (tmp_path / f"{name}.json").write_text(json.dumps(card))
        return content

    return put_agent


def test_an_agent_plays_as_its_networks_do(put: Pack) -> None:
    rules = load_rules("smear")
    trained = random_agent(rules, 4)
    content = put("smear", trained)
    assert all(tensor.dtype == torch.float16 for tensor in load(content).values())
    loaded = agents.load("zoo:smear")
    batch = Batch(rules, 60, seed=3)
    random = RandomPolicy()
    random.reset(rules, 60, 1)
    apart, decisions = 0.0, 0
    for policy in (trained, loaded):
        policy.reset(rules, 60, 1)
    for _ in range(25):
        rows = np.flatnonzero(batch.seat >= 0)
        views, mask, seat = batch.views()[rows], batch.mask[rows], batch.seat[rows]
        chances = [policy.probabilities(views, mask, seat) for policy in (trained, loaded)]  # type: ignore[attr-defined]
        apart = max(apart, float(np.abs(chances[0] - chances[1]).max()))
        decisions += len(rows)
        actions = np.zeros(60, np.int64)
        actions[rows] = random.act(views, mask, seat)
        batch.step(actions)
    assert decisions > 500
    assert 0 < apart < 0.02  # float16 rounds to a part in 2,000, and no more than that has changed


def test_specs_with_a_zoo_agent_in_them(put: Pack) -> None:
    put("smear", random_agent(load_rules("smear"), 4))
    assert all(part.greedy for part in agents.load("zoo:smear").parts.values())  # type: ignore[attr-defined]
    assert not any(part.greedy for part in agents.load("sampled:zoo:smear").parts.values())  # type: ignore[attr-defined]
    search, pimc = agents.load("search:zoo:smear,worlds=7"), agents.load("pimc:worlds=4,inference=zoo:smear")
    assert isinstance(search, LookAhead)
    assert search.worlds == 7
    assert isinstance(search.policy, TwoPartPolicy)
    assert isinstance(pimc, Pimc)
    assert isinstance(pimc.inference, TwoPartPolicy)
    assert isinstance(agents.load("search:sampled:zoo:smear,worlds=7").policy, TwoPartPolicy)  # type: ignore[attr-defined]


def test_an_agent_for_other_rules_is_refused(put: Pack) -> None:
    put("smear", random_agent(load_rules("smear"), 4))
    with pytest.raises(ValueError, match=r"target = 11: .*trained for other rules; allowed: 15"):
        agents.load("zoo:smear").reset(load_rules("smear", target=11), 1, 0)


def test_one_for_any_rules_plays_every_game_that_it_has_slots_for(put: Pack) -> None:
    put("generalist", random_agent(load_rules("smear"), 6, any_rules=True))
    for game in ("auction-2", "oklahoma-6", "setback"):
        rules = load_rules(game, low_to="winner")
        policy = agents.load("zoo:generalist")
        policy.reset(rules, 30, 0)
        batch = Batch(rules, 30, seed=1)
        actions = policy.act(batch.views(), batch.mask, batch.seat)
        assert batch.mask[np.arange(30), actions].all()
    with pytest.raises(ValueError, match=r"players = 7: .*slots for 6 seats"):
        agents.load("zoo:generalist").reset(load_rules("auction-7"), 1, 0)


def test_pins_hold_an_agent_to_its_checksum(put: Pack) -> None:
    rules = load_rules("smear")
    digits = hashlib.sha256(put("smear", random_agent(rules, 4))).hexdigest()[:8]
    pinned = zoo.pinned("search:zoo:smear,worlds=3")
    assert pinned == f"search:zoo:smear@{digits},worlds=3"
    assert zoo.pinned(pinned) == pinned
    assert zoo.pinned("sampled:zoo:smear") == f"sampled:zoo:smear@{digits}"
    for spec in ("heuristic", "pimc:worlds=3,inference=runs/zoo/smear", "runs/zoo:smear"):
        assert zoo.pinned(spec) == spec
    assert isinstance(agents.load(pinned), LookAhead)
    put("smear", random_agent(rules, 4))
    for spec in (pinned, "zoo:smear@", "zoo:smear@12"):
        with pytest.raises(ValueError, match=r"checksum .*; allowed: zoo:smear@.*, or zoo:smear$"):
            agents.load(spec)


@pytest.mark.parametrize(
    "spec", ["zoo:smaer", "zoo:", "zoo", "zoo:../smear", "zoo:SMEAR", "sampled:zoo:smaer", "search:zoo:smaer,worlds=3"]
)
def test_an_unknown_name_is_one_line(spec: str, put: Pack) -> None:
    put("smear", random_agent(load_rules("smear"), 4))
    with pytest.raises(ValueError, match=r"^agent 'zoo:.*': unknown.*; allowed: .*smear") as refusal:
        agents.load(spec)
    assert "\n" not in str(refusal.value)
    assert ("did you mean 'smear'?" in str(refusal.value)) == ("smaer" in spec or "../smear" in spec)


def cut(content: bytes) -> bytes:
    return content[:-100]


def flipped(content: bytes) -> bytes:
    return content[:-1] + bytes([content[-1] ^ 1])


@pytest.mark.parametrize("damage", [cut, flipped, lambda content: b"", lambda content: b"not weights"])
def test_damaged_weights_are_one_line(damage: Callable[[bytes], bytes], put: Pack, tmp_path: Path) -> None:
    path = tmp_path / "smear.safetensors"
    path.write_bytes(damage(put("smear", random_agent(load_rules("smear"), 4))))
    with pytest.raises(
        zoo.ZooError, match=r"^zoo file '.*smear.safetensors': damaged, or not the one of its card: sha256 = .*allowed"
    ) as fault:
        agents.load("zoo:smear")
    assert "\n" not in str(fault.value)


def refused(path: Path, content: bytes) -> str:
    """What is said of a file whose checksum is right."""
    path.write_bytes(content)
    path.with_suffix(".json").write_text(json.dumps({"format": zoo.CARD_FORMAT, "sha256": hashlib.sha256(content).hexdigest()}))
    with pytest.raises(zoo.ZooError) as fault:
        agents.load("zoo:smear")
    assert "\n" not in str(fault.value)
    return str(fault.value)


def test_files_that_are_for_something_else_are_one_line(put: Pack, tmp_path: Path) -> None:
    content = put("smear", random_agent(load_rules("smear"), 4))
    path, weights = tmp_path / "smear.safetensors", load(content)
    card = json.loads(json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])["__metadata__"]["card"])

    def with_card(**changes: object) -> bytes:
        parts = {part: {**fields, **changes} for part, fields in card["parts"].items()}
        return save(weights, {"card": json.dumps({**card, "parts": parts})})

    assert "layout = 2; allowed: 1" in refused(path, with_card(layout=2))
    assert "card and weights do not fit" in refused(path, with_card(hidden=[13]))
    assert "card and weights do not fit" in refused(path, with_card(rules={"players": 4, "sides": 3}))
    assert "damaged or no safetensors file" in refused(path, b"not weights")
    assert "not an agent of this kit" in refused(path, save(weights, {"card": json.dumps({**card, "format": "x"})}))
    assert "not an agent of this kit" in refused(path, save(weights))
    assert "not a network of this kit" in refused(path, save(weights, {"card": json.dumps({**card, "parts": {}})}))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "x", "sha256": "0"}', '{"format": "pitchenv-zoo-card-1", "sha256": 3}'])
def test_a_damaged_json_is_one_line(text: str, put: Pack, tmp_path: Path) -> None:
    put("smear", random_agent(load_rules("smear"), 4))
    (tmp_path / "smear.json").write_text(text)
    with pytest.raises(zoo.ZooError, match=r"^zoo file '.*smear.json': missing, damaged or no card; allowed: format .*$"):
        agents.load("zoo:smear")


def test_what_does_not_belong_into_the_zoo_is_refused() -> None:
    rules = load_rules("smear")
    policy = random_agent(rules, 4)
    with pytest.raises(zoo.ZooError, match=r"part 'play': a RandomPolicy; allowed in the zoo: a network"):
        zoo.packed(TwoPartPolicy(policy.parts["bidding"], RandomPolicy()))
    for weight in (1e6, float("nan")):
        large = random_agent(rules, 4)
        with torch.no_grad():
            large.parts["play"].actor.layers[0].weight[0, 0] = weight  # type: ignore[attr-defined]
        with pytest.raises(zoo.ZooError, match=r"play.layers.0.weight: has a weight that float16 can't hold"):
            zoo.packed(large)
    with pytest.raises(zoo.ZooError, match=r"bytes: allowed in the zoo: at most 5,000,000"):
        zoo.packed(random_agent(rules, 4, hidden=(1700, 100)))


def test_what_ships_loads_and_is_small() -> None:
    """Whatever lies in the zoo that ships; its figures are checked by `training zoo --check`."""
    for name in zoo.names():
        rules = zoo.card(name)["networks"]["rules"]
        zoo.load(name).reset(load_rules(rules) if isinstance(rules, str) else Rules.from_dict(rules), 1, 0)
        assert (zoo.find(name) / f"{name}.safetensors").stat().st_size <= zoo.MOST_BYTES
