"""ONNX export: the same logits as torch's, for every decision of whole deals, and a file that says what it is for."""

import json
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
import torch

import agents
from agents.canonical import canonical_observations, original_actions
from agents.learned import NetworkPolicy, TwoPartPolicy, is_bidding, load_run
from agents.networks import Actor
from pitchenv import Batch, load_rules
from pitchenv.checks import InputError
from pitchenv.observation import LAYOUT_VERSION, layout, observe
from training.export import main, networks_of, onnx_bytes


def random_networks(game: str, slots: int, canonical: bool) -> dict[str, NetworkPolicy]:
    """A bidding and a play network of different shapes."""
    torch.manual_seed(4)
    networks = {}
    for part, hidden in (("bidding", (24,)), ("play", (32, 16))):
        actor = Actor(layout(slots).size, hidden, 70)
        torch.nn.init.normal_(actor.layers[-1].weight)
        torch.nn.init.normal_(actor.layers[0].bias)
        networks[part] = NetworkPolicy(actor, load_rules(game), slots, canonical_suits=canonical)
    return networks


@pytest.mark.parametrize(("game", "slots", "canonical"), [("auction-4-partners", 4, True), ("oklahoma-6", 7, True), ("smear", 4, False)])
def test_logits_are_those_of_torch(game: str, slots: int, canonical: bool) -> None:
    networks = random_networks(game, slots, canonical)
    session = onnxruntime.InferenceSession(onnx_bytes(networks, "test"), providers=["CPUExecutionProvider"])
    assert [(one.name, one.shape) for one in session.get_inputs()] == [("observation", ["n", layout(slots).size]), ("mask", ["n", 70])]
    policy = TwoPartPolicy(**networks)
    rules = load_rules(game)
    policy.reset(rules, 40, 0)
    batch = Batch(rules, 40, seed=9, skip_forced=True)
    seen = set()
    for _ in range(40):
        rows = np.flatnonzero(batch.seat >= 0)
        if not len(rows):
            break
        views, mask, seat = batch.views()[rows], batch.mask[rows], batch.seat[rows]
        if canonical:
            observation, to = canonical_observations(views, slots)
        else:
            observation, to = observe(views, slots), np.tile(np.arange(4), (len(rows), 1))
        original = original_actions(to)
        given = np.take_along_axis(mask, original, 1)
        (logits,) = session.run(["logits"], {"observation": observation, "mask": given})
        bidding = is_bidding(views)
        for part, of_part in (("bidding", bidding), ("play", ~bidding)):
            if of_part.any():
                seen.add(part)
                with torch.no_grad():
                    wanted = networks[part].actor(torch.from_numpy(observation[of_part]), torch.from_numpy(given[of_part])).numpy()
                np.testing.assert_allclose(logits[of_part], wanted, rtol=1e-5, atol=1e-5)
                assert np.ptp(wanted[given[of_part]]) > 0.5  # there is something to tell apart
        actions = policy.act(views, mask, seat)
        assert (np.take_along_axis(original, logits.argmax(1)[:, None], 1)[:, 0] == actions).all()
        table = np.zeros(40, np.int64)
        table[rows] = actions
        batch.step(table)
    assert seen == {"bidding", "play"}


def test_the_command_writes_a_run_with_its_card(small_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "agent.onnx"
    main([str(small_run), "--onnx", str(path)])
    assert str(path) in capsys.readouterr().out
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    said = {entry.key: entry.value for entry in model.metadata_props}
    assert said["canonical_suits"] == "true"
    card = json.loads(said["card"])
    assert card["parts"]["play"]["layout"] == LAYOUT_VERSION
    assert card["parts"]["bidding"]["rules"] == load_rules("auction-4-partners").to_dict()
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    batch = Batch("auction-4-partners", 5, seed=1)
    observation, to = canonical_observations(batch.views(), 4)
    mask = np.take_along_axis(batch.mask, original_actions(to), 1)
    (logits,) = session.run(None, {"observation": observation, "mask": mask})
    run = load_run(small_run).parts["bidding"]
    assert isinstance(run, NetworkPolicy)
    with torch.no_grad():
        np.testing.assert_allclose(logits, run.actor(torch.from_numpy(observation), torch.from_numpy(mask)).numpy(), rtol=1e-5, atol=1e-5)


def test_what_can_t_be_exported_is_one_line(small_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for spec, said in (
        ("heuristic", "agent 'heuristic': its bidding part is no network"),
        (f"search:{small_run},worlds=3", "its bidding part is no network"),
        ("zoo:nothing-like-it", "unknown"),
    ):
        with pytest.raises(InputError, match=said) as fault:
            networks_of(spec)
        assert "\n" not in str(fault.value)
    networks = random_networks("smear", 4, True)
    networks["bidding"].canonical_suits = False
    monkeypatch.setattr(agents, "load", lambda spec: TwoPartPolicy(**networks))
    with pytest.raises(InputError, match="canonical_suits = False in bidding, True in play"):
        networks_of("two-minds")
    with pytest.raises(InputError, match=r"^onnx = .*cannot be written; allowed: a file in a folder that exists$"):
        main(["two-minds", "--onnx", str(tmp_path / "no-folder" / "x.onnx")])
