"""Whom a run learns with and from: partners, opponents, earlier states of itself, starting points."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import agents
from agents.learned import NetworkPolicy, TwoPartPolicy, newest_checkpoint
from pitchenv.policies.random import RandomPolicy
from tests.training.runs import StopAt, begin, copy_run, refuse, weights
from training.checkpoint import load_checkpoint
from training.config import ConfigError
from training.duplicate import duplicate
from training.run import EVALUATION_SEED, Run
from training.train import Stop, opponents_of, train


class Cheater(RandomPolicy):
    """Proposes what is not legal."""

    def act(self, inputs: Any, mask: Any, seat: Any) -> Any:
        return mask.argmin(1)


def test_a_partner_that_is_a_run_is_copied_into_the_checkpoint(small_run: Path, tmp_path: Path) -> None:
    moved = tmp_path / "partner"
    copy_run(small_run, moved)
    run = begin(tmp_path / "run", parts="bidding", partner=str(moved))
    moved.rename(tmp_path / "elsewhere")
    assert weights(run.folder)["play.safetensors"] == weights(small_run)["play.safetensors"]
    resumed = Run.resume(run.folder)
    assert train(resumed, Stop())
    assert weights(run.folder)["play.safetensors"] == weights(small_run)["play.safetensors"]
    assert duplicate(agents.load(run.folder), agents.load("random"), run.rules, 4, 1).illegal == {"A": 0, "B": 0}


def test_a_partner_that_is_a_run_with_a_named_player(tmp_path: Path) -> None:
    begin(tmp_path / "source", parts="bidding")  # heuristic plays its cards
    run = begin(tmp_path / "run", parts="bidding", partner=str(tmp_path / "source"))
    assert json.loads((newest_checkpoint(run.folder) / "agent.json").read_text()) == {"bidding": "network", "play": "heuristic"}
    assert train(Run.resume(run.folder), Stop())
    assert duplicate(agents.load(run.folder), agents.load("random"), run.rules, 4, 1).illegal == {"A": 0, "B": 0}


def test_a_partner_that_draws_its_actions_does_so_when_resumed(small_run: Path, tmp_path: Path) -> None:
    for name, partner, greedy in (("drawn", f"sampled:{small_run}", False), ("greedy", str(small_run), True)):
        run = begin(tmp_path / name, parts="bidding", partner=partner)
        for one in (run, Run.resume(run.folder)):
            assert isinstance(one.partner, NetworkPolicy)
            assert one.partner.greedy == greedy


def test_earlier_states_play_the_other_part_as_the_run_does(small_run: Path, tmp_path: Path) -> None:
    run = begin(tmp_path / "run", parts="bidding", partner=str(small_run), past_share=0.5, past_every=1, iterations=2)
    assert train(run, Stop())
    past = run.past_opponent()
    assert past is not None
    assert isinstance(past.policy, TwoPartPolicy)
    assert past.policy.parts["play"] is run.partner
    assert not past.policy.parts["bidding"].greedy  # type: ignore[attr-defined]


def test_what_can_not_be_learned_with(small_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["train", "--run", str(tmp_path / "a")]
    partner = f"search:{small_run},worlds=2"
    refuse(capsys, [*argv, "--parts", "bidding", "--partner", partner], "partner", partner, "their own player")
    partner = "search:zoo:auction-4-partners,worlds=2"
    refuse(capsys, [*argv, "--parts", "bidding", "--partner", partner], "partner", partner, "their own player")
    refuse(capsys, [*argv, "--game", "auction-3", "--ppo.exact-cards", "12"], "ppo.exact_cards = 12", "more than two sides", "allowed: 0")
    assert not (tmp_path / "a").exists()


def test_partners_that_can_not_be_used(small_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    refuse(capsys, ["train", "--run", str(tmp_path / "a"), "--parts", "play", "--partner", "heuristik"], "'heuristik'", "'heuristic'")
    argv = ["train", "--run", str(tmp_path / "a"), "--game", "smear", "--parts", "play", "--partner", str(small_run)]
    refuse(capsys, argv, "other rules")
    assert not (tmp_path / "a").exists()
    run = begin(tmp_path / "b", parts="bidding", partner=f"{__name__}:Cheater")
    with pytest.raises(agents.AgentError, match=r"Cheater.*proposes illegal actions"):
        train(run, Stop())


@pytest.mark.parametrize(("share", "names"), [(0.5, ("random", "heuristic")), (1.0, ("opponent",))])
def test_figures_are_over_those_they_name(tmp_path: Path, share: float, names: tuple[str, ...]) -> None:
    run = begin(tmp_path / "run", opponent="heuristic", opponent_share=share)
    figures = run.evaluate(40)
    assert set(figures) == {f"eval/vs_{name}{end}" for name in names for end in ("", "_half_width")}
    for name in names:
        against = agents.load("heuristic" if name == "opponent" else name)
        assert figures[f"eval/vs_{name}"] == duplicate(run.player(), against, run.rules, 40, EVALUATION_SEED).margin


def test_one_part_learns_against_an_opponent(small_run: Path, tmp_path: Path) -> None:
    run = begin(tmp_path / "run", parts="play", partner=str(small_run), opponent="heuristic", iterations=1)
    assert train(run, Stop())
    assert weights(run.folder)["bidding.safetensors"] == weights(small_run)["bidding.safetensors"]
    assert weights(run.folder)["play.safetensors"] != weights(small_run)["play.safetensors"]


def test_starting_points_bring_actors_and_critics_alone(small_run: Path, tmp_path: Path) -> None:
    run = begin(tmp_path / "run", start_from=str(small_run))
    source = load_checkpoint(small_run)[1]["learners"]
    for part, learner in run.learners.items():
        state = learner.state_dict()
        for network in ("network", "critic"):
            assert all(torch.equal(tensor, source[part][network][key]) for key, tensor in state[network].items())
        assert state["optimizer"]["state"] == {}
    assert run.iteration == 0


def test_a_starting_point_that_knows_no_score(small_run: Path, tmp_path: Path) -> None:
    """It is the same function at first: new columns weigh nothing."""
    blind, run = Run.resume(small_run), begin(tmp_path / "run", start_from=str(small_run), start_scores="spread")
    ours, theirs = (np.concatenate(r.columns) for r in (run, blind))
    for part, player in run.player().parts.items():
        for before, after in (
            (blind.player().parts[part].actor.state_dict(), player.actor.state_dict()),  # type: ignore[attr-defined]
            (blind.learners[part].critic.state_dict(), run.learners[part].critic.state_dict()),  # type: ignore[attr-defined]
        ):
            first = after.pop("layers.0.weight")
            old = before.pop("layers.0.weight")
            if len(first[0]) != len(old[0]):
                assert torch.equal(first[:, np.isin(ours, theirs)], old)
                assert not first[:, ~np.isin(ours, theirs)].any()
            else:
                assert torch.equal(first, old)
            assert all(torch.equal(tensor, after[name]) for name, tensor in before.items())
    assert len(ours) > len(theirs)
    with pytest.raises(ConfigError, match=r"start_scores = 'spread', and reads the score; allowed: 'zero', as configured"):
        begin(tmp_path / "a", start_from=str(run.folder))


def test_starting_points_that_do_not_fit(small_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small = ["--network.hidden", "16", "--network.critic-hidden", "16"]
    argv = ["train", "--run", str(tmp_path / "a"), "--start-from"]
    refuse(capsys, [*argv, str(tmp_path)], "start_from", str(tmp_path), "not the folder of a run")
    refuse(capsys, [*argv, str(small_run), *small, "--set", "target=11"], "start_from", "target = 7", "allowed: 11")
    refuse(capsys, [*argv, str(small_run), *small, "--game", "smear"], "start_from", "trained for", "allowed")
    refuse(capsys, [*argv, str(small_run)], "start_from", "network.hidden = (16,)", "allowed: (256, 256)")
    with pytest.raises(ConfigError, match=r"network\.canonical_suits = True; allowed: False"):
        begin(tmp_path / "a", start_from=str(small_run), network={"hidden": [16], "critic_hidden": [16], "canonical_suits": False})
    bidding = begin(tmp_path / "bidding", parts="bidding")
    refuse(capsys, [*argv, str(bidding.folder), *small], "start_from", "parts = 'bidding'", "the play part")
    state = copy_run(small_run, tmp_path / "damaged") / "training_state.pt"
    whole = torch.load(state, weights_only=True)
    torch.save({**whole, "layout": 0}, state)
    refuse(capsys, [*argv, str(tmp_path / "damaged"), *small], "start_from", "layout = 0", "allowed: 1")
    torch.save({**whole, "learners": {"bidding": {"network": 3}, "play": 4}}, state)
    refuse(capsys, [*argv, str(tmp_path / "damaged"), *small], "start_from", "does not fit")
    state.write_bytes(b"nothing")
    refuse(capsys, [*argv, str(tmp_path / "damaged"), *small], "start_from", "training_state.pt", "damaged")
    assert not (tmp_path / "a").exists()


def test_a_starting_point_of_another_algorithm(small_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small = ["--network.hidden", "16", "--network.critic-hidden", "16"]
    argv = ["train", "--run", str(tmp_path / "a"), "--start-from", str(small_run), *small, "--algorithm", "dmc"]
    refuse(capsys, argv, "start_from", "algorithm = 'ppo'", "allowed: 'dmc'")


def test_opponents_that_can_not_be_used(small_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["train", "--run", str(tmp_path / "a"), "--opponent"]
    refuse(capsys, [*argv, "heuristik"], "'heuristik'", "'heuristic'")
    refuse(capsys, [*argv, str(small_run), "--game", "smear"], str(small_run), "other rules")
    assert not (tmp_path / "a").exists()
    run = begin(tmp_path / "b", opponent=f"{__name__}:Cheater")
    with pytest.raises(agents.AgentError, match=r"opponent .*Cheater.*proposes illegal actions"):
        train(run, Stop())
    (run.folder / "opponent" / "spec.json").unlink()
    refuse(capsys, ["train", "--resume", str(run.folder)], "spec.json", "missing or damaged")


def test_earlier_states_are_opponents(tmp_path: Path) -> None:
    run = begin(tmp_path / "run", past_share=0.25, past_every=2, past_kept=1)
    assert run.past_opponent() is None
    assert not train(run, StopAt(run, 3))
    past = run.past_opponent()
    assert past is not None
    assert past.name == "past 2"
    assert not past.policy.parts["play"].greedy  # type: ignore[attr-defined]
    (opponent,) = opponents_of(run)
    assert len(set(opponent.deals.tolist())) == 6  # a quarter of 24
    kept = agents.load(tmp_path / "run" / "past" / "00000002")
    assert duplicate(kept, agents.load("random"), run.rules, 4, 1).illegal == {"A": 0, "B": 0}


def test_every_deal_may_be_an_opponents(tmp_path: Path) -> None:
    """Which ones are changes with the iterations, so that of several games all meet it; and a share is never nothing."""
    run = begin(tmp_path / "run", opponent="random", opponent_share=0.01)
    met = set()
    for run.iteration in range(200):
        (opponent,) = opponents_of(run)
        assert opponent.deals.shape == (1,)
        met |= set(opponent.deals.tolist())
    assert met == set(range(24))
