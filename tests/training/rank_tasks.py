"""What `test_ranks` has two ranks do under torchrun: `-m tests.training.rank_tasks FOLDER`; every rank writes what it saw as JSON."""

import contextlib
import io
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from agents.networks import Actor
from tests.training.conftest import small_config
from training import dmc, ppo, shared_memory
from training.__main__ import main
from training.config import DMCConfig, PPOConfig
from training.learner import Sizes, TrainingError, check_finite
from training.ranks import ALONE, Ranks, checksum
from training.rollout import Decisions
from training.run import Run
from training.train import Stop, train

CPU = torch.device("cpu")
ROWS = 48
UNEVEN, ONE_SIDED = (30, 18), (48, 0)  # rows of each rank

HARD = {  # all that ranks could come to differ in
    "past_share": 0.25, "past_every": 1, "past_kept": 2, "opponent": "heuristic", "opponent_share": 0.25, "start_scores": "spread",
    "ppo": {"minibatches": 4, "magnet": 0.1},
}  # fmt: skip


def own_rows(ranks: Ranks, split: tuple[int, int]) -> slice:
    """This rank's rows of the global batch; alone, all of them."""
    if ranks is ALONE:
        return slice(0, ROWS)
    return slice(0, split[0]) if ranks.first else slice(split[0], ROWS)


def global_batch() -> tuple[Decisions, np.ndarray, np.ndarray]:
    """Decisions, advantages and targets, of which the later ones are of another kind."""
    random = torch.Generator().manual_seed(5)
    state, action = torch.randn(ROWS, 6, generator=random), torch.arange(ROWS) % 4
    state[30:] += 2
    mask = torch.ones(ROWS, 4, dtype=torch.bool)
    numbers = np.arange(ROWS)
    advantage = (torch.randn(ROWS, generator=random) + 3 * (torch.arange(ROWS) >= 30)).numpy()
    decisions = Decisions(state, mask, action, torch.full(mask.shape, -1.4), numbers, 0 * numbers, 0 * numbers)
    return decisions, advantage, advantage * 2 + 1


def part_of(decisions: Decisions, rows: slice) -> Decisions:
    """Some of the decisions."""
    return Decisions(**{name: column[rows] for name, column in vars(decisions).items() if column is not None})


def ppo_step(ranks: Ranks, split: tuple[int, int]) -> tuple[list[torch.Tensor], dict[str, float]]:
    """Parameters and figures after updates on the whole batch at once, the ranks' rows together."""
    torch.manual_seed(1)
    learner = ppo.PPOLearner.create(Sizes(5, 6, 4), (8,), (8,))
    (decisions, advantage, target), rows = global_batch(), own_rows(ranks, split)
    figures = ppo.update(
        learner, part_of(decisions, rows), advantage[rows], target[rows], PPOConfig(minibatches=1), 2, 1e-3, {"entropy": -0.01}, 0.25,
        torch.Generator().manual_seed(2), CPU, ranks,
    )  # fmt: skip
    return [*learner.network.parameters(), *learner.critic.parameters()], figures


def dmc_step(ranks: Ranks, split: tuple[int, int]) -> tuple[list[torch.Tensor], dict[str, float]]:
    """The same for deep Monte-Carlo."""
    torch.manual_seed(1)
    learner = dmc.DMCLearner(Actor(5, (8,), 4), DMCConfig(minibatches=1, epochs=2))
    (decisions, _, target), rows = global_batch(), own_rows(ranks, split)
    figures = dmc.update(
        learner, part_of(decisions, rows), torch.from_numpy(target[rows]), learner.config, 1e-3, torch.Generator(), CPU, ranks
    )
    return list(learner.network.parameters()), figures


def against_whole(ranks: Ranks, step: Callable[[Ranks, tuple[int, int]], Any], split: tuple[int, int]) -> dict[str, float]:
    """How far what the ranks come to is from what one process does on the whole batch: parameters, and figures."""
    (together, figures), (alone, expected) = step(ranks, split), step(ALONE, split)
    with torch.no_grad():
        apart = max(float((ours - theirs).abs().max()) for ours, theirs in zip(together, alone, strict=True))
    return {"parameters": apart, "figures": max(abs(figures[name] - value) for name, value in expected.items())}


def gradients(ranks: Ranks) -> dict[str, float]:
    """The mean of the ranks' gradients and that of all rows, as the largest difference; where one rank has no rows too, and where the
    ranks can't share memory."""
    data, model = torch.arange(40.0).reshape(10, 4).sin(), nn.Linear(4, 2)
    found = {}
    for name, own in {"halves": (5, 5), "uneven": (7, 3), "one-sided": (10, 0), "messages": (5, 5)}.items():
        if name == "messages":
            ranks = replace(ranks, sums={})
            shared_memory.FOLDER = Path("none")  # type: ignore[misc]
        for parameter in model.parameters():
            nn.init.constant_(parameter, 0.5)
        model.zero_grad()
        model(data).square().mean().backward()
        whole = [parameter.grad.clone() for parameter in model.parameters() if parameter.grad is not None]
        model.zero_grad()
        rows = data[: own[0]] if ranks.first else data[own[0] :]
        if len(rows):
            model(rows).square().mean().backward()
        ranks.average_gradients(list(model.parameters()), len(rows) / len(data))
        mine = [parameter.grad for parameter in model.parameters() if parameter.grad is not None]
        assert bool(ranks.sums[10]) == (name != "messages")
        found[name] = max(float((a - b).abs().max()) for a, b in zip(mine, whole, strict=True))
    return found


def broken_on_one(ranks: Ranks) -> str:
    """What is said when the losses of the second rank alone are no numbers."""
    learner = ppo.PPOLearner.create(Sizes(5, 6, 4), (8,), (8,))
    (decisions, advantage, target), rows = global_batch(), own_rows(ranks, UNEVEN)
    if not ranks.first:
        target = target * np.float32(np.nan)
    figures = ppo.update(
        learner, part_of(decisions, rows), advantage[rows], target[rows], PPOConfig(), 1, 1e-3, {}, 0.25, torch.Generator(), CPU, ranks
    )
    try:
        check_finite(figures, "play")
    except TrainingError as fault:
        return str(fault)
    return ""


class StopOnSecond(Stop):
    """Is asked to stop on the second rank alone, when the run has come to an iteration."""

    def __init__(self, run: Run, iteration: int) -> None:
        self.run, self.at = run, iteration

    @property
    def asked(self) -> bool:  # type: ignore[override]
        return not self.run.ranks.first and self.run.iteration >= self.at


def trained(ranks: Ranks, folder: Path, stop_at: int = 1000, **changes: Any) -> list[int]:
    """Begin or resume a run and train it; how far it came, and the checksum of all its networks and optimisers on this rank."""
    resumed = ranks.gather(folder.exists())[0]
    with ranks.together():
        if ranks.first:
            run = Run.resume(folder, ranks) if resumed else Run.begin(small_config(**changes), folder, ranks)
    if not ranks.first:
        run = Run.resume(folder, ranks)
    train(run, StopOnSecond(run, stop_at))
    return [run.iteration, checksum({part: learner.state_dict() for part, learner in run.learners.items()}), run.decisions]


def differing(ranks: Ranks, folder: Path) -> str:
    """What the first rank says, and how the second ends, where one number of the second's networks has changed."""
    run = Run.resume(folder, ranks)
    run.check_equal()
    if not ranks.first:
        next(run.learners["play"].network.parameters()).data[0, 0] += 1e-6
    try:
        run.check_equal()
    except (TrainingError, SystemExit) as end:
        if ranks.first:
            ranks.gather(None)  # lets the second go, in place of an end of the process
        return f"{type(end).__name__}: {end}"
    return ""


def tasks(ranks: Ranks, folder: Path) -> None:
    """All but the command itself, on this rank."""
    rank, rows = ranks.rank, 5 if ranks.first else 0
    values = global_batch()[1]
    found = {
        "moments": [[*map(float, ranks.moments(values[own_rows(ranks, split)]))] for split in (UNEVEN, ONE_SIDED)],
        "shares": [ranks.minibatch_shares(rows, 4), ranks.minibatch_shares(7 - 4 * rank, 4), ranks.minibatch_shares(0, 4)],
        "total": ranks.total({"both": 1 + rank, f"rank {rank}": 2}),
        "any": [ranks.any(False), ranks.any(not ranks.first)],
        "gradients": gradients(ranks),
        "steps": [against_whole(ranks, step, split) for step in (ppo_step, dmc_step) for split in (UNEVEN, ONE_SIDED)],
        "alone": against_whole(Ranks(rank, 1), ppo_step, UNEVEN),
        "broken": broken_on_one(ranks),
        "whole": trained(ranks, folder / "whole", **HARD),
        "stopped": trained(ranks, folder / "halves", 2, **HARD),
        "resumed": trained(ranks, folder / "halves"),
        "tiny": trained(ranks, folder / "tiny", deals_per_iteration=2, algorithm="dmc", iterations=2),
        "differing": differing(ranks, folder / "tiny"),
    }
    (folder / f"rank-{rank}.json").write_text(json.dumps(found))


def command(ranks: Ranks, folder: Path) -> int:
    """A whole run by the command, whose output goes to a file, and then one that is refused."""
    Ranks.joined = lambda: contextlib.nullcontext(ranks)  # type: ignore[assignment,method-assign]  # these: a process can join but once
    config = str(folder / "small.toml")
    with contextlib.redirect_stdout(io.StringIO()) as said:
        code = main(["train", config, "--run", str(folder / "command"), "--iterations", "1"])
    (folder / f"said-{ranks.rank}").write_text(said.getvalue())
    return code or main(["train", config, "--run", str(folder / "refused"), "--deals-per-iteration", "25"])


if __name__ == "__main__":
    torch.set_num_threads(1)
    with Ranks.joined() as ours:
        with contextlib.redirect_stdout(io.StringIO()):
            tasks(ours, Path(sys.argv[1]))
        sys.exit(command(ours, Path(sys.argv[1])))
