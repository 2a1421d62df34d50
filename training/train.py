"""`train`: learning by self-play, or against frozen opponents: iterations of collect, update, report, save."""

import contextlib
import dataclasses
import functools
import json
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import numpy as np
import torch
import tyro

from pitchenv import Batch
from training.clock import Clock
from training.command_line import option_names, parse, rule_changes
from training.config import ConfigError, TrainConfig, load_config
from training.files import alone_in, write_file, writing
from training.learner import TrainingError
from training.metrics import Metrics, deal_statistics
from training.players import Player
from training.progress import Progress
from training.ranks import Ranks
from training.rollout import Collector, Opponent
from training.run import Run
from training.teachers import Teachers


@contextlib.contextmanager
def matrix_products(kind: str) -> Iterator[None]:
    """bfloat16 products inside the block, where the processor has them; evaluations and other code keep full precision."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("medium" if kind == "bfloat16" else "highest")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def train(run: Run, stop: "Stop") -> bool:
    """Iterate until the run has its length, or `stop` is asked for on any rank; returns whether it has. The first rank reports and
    saves. Raises InputError where another process trains the run."""
    with contextlib.ExitStack() as held:
        with run.ranks.together():
            if run.ranks.first:
                what = f"run {str(run.folder)!r}"
                held.enter_context(alone_in(run.folder, what, f"{what}: another process is training it; allowed: to wait for its end"))
        return _iterate(run, stop)


def _iterate(run: Run, stop: "Stop") -> bool:
    config, ranks = run.config, run.ranks
    clock = Clock(run.seconds)
    metrics = Metrics(run.folder, config, run.iteration * config.deals_per_iteration) if ranks.first else None
    with clock("engine"):
        collector = collector_of(run, clock)
    what = f"run {str(run.folder)!r}", f"; what was saved before is whole: with more room, go on with --resume {run.folder}"
    bar = Progress(config.iterations, run.iteration, config.deals_per_iteration) if ranks.first else contextlib.nullcontext()
    with bar as progress:
        with ranks.together():
            if metrics:  # one that was cut off after its iteration had been saved
                metrics.log(evaluation(run, clock), run.iteration * config.deals_per_iteration)
        while run.iteration < config.iterations and not ranks.any(stop.asked):
            begun, cpu_begun = time.perf_counter(), time.process_time()
            left = 1 - run.iteration / config.iterations
            random = torch.Generator().manual_seed(run.stream(1))
            behaviour = {part: learner.behaviour(left) for part, learner in run.learners.items()}
            with matrix_products(config.matmul):
                with ranks.together():
                    rollout = collector.collect(behaviour, run.stream(2), random, opponents_of(run))
                with clock("update"):
                    try:
                        scalars = run.algorithm.learn(run.learners, rollout, config, left, random, run.device, ranks)
                    except TrainingError as fault:
                        raise ranks.told_by(0, TrainingError(f"iteration {run.iteration + 1}: {fault}")) from None
            run.iteration += 1
            spent = ranks.total({"decisions": rollout.decisions, "cpu_seconds": time.process_time() - cpu_begun})
            run.decisions += int(spent["decisions"])
            run.cpu_seconds += spent["cpu_seconds"]
            seconds = time.perf_counter() - begun
            deals = run.iteration * config.deals_per_iteration
            if save := run.iteration == config.iterations or run.iteration % config.checkpoint_every == 0:
                run.check_equal()
            with ranks.together(), writing(*what):
                if metrics and progress:
                    run.keep_past()
                    scalars |= deal_statistics(rollout.public)
                    scalars |= {
                        "charts/decisions": run.decisions,
                        "charts/deals_per_second": config.deals_per_iteration / seconds,
                        "charts/decisions_per_second": spent["decisions"] / seconds,
                    }
                    if (against := np.flatnonzero(rollout.learning_side >= 0)).size:
                        scalars["charts/return_of_learner"] = float(rollout.returns[against, rollout.learning_side[against]].mean())
                    if save:
                        run.save()
                    metrics.log(scalars | evaluation(run, clock), deals)
                    progress.advance(run.iteration, run.curve[-1] if run.curve else {})
        if metrics and progress:
            with writing(*what):
                metrics.close()
                run.save()
                progress.say("time: " + ", ".join(f"{name} {share:.0%}" for name, share in clock.shares().items()))
                summary = {name: getattr(run, name) for name in ("iteration", "decisions", "cpu_seconds", "seconds", "curve")}
                write_file(run.folder / "summary.json", json.dumps(summary, indent=1).encode())
    return run.iteration >= config.iterations


def evaluation(run: Run, clock: Clock) -> dict[str, float]:
    """What the evaluation finds that is due after the run's last iteration, and goes into its curve; nothing where none is."""
    config, deals = run.config, run.iteration * run.config.deals_per_iteration
    last = run.iteration == config.iterations
    there = bool(run.curve) and run.curve[-1]["deals"] == deals
    if not run.iteration or there or not (last or run.iteration % config.evaluation.every == 0):
        return {}
    with clock("evaluation"):
        figures = run.evaluate(config.evaluation.final_deals if last else config.evaluation.deals)
    run.curve.append({"deals": deals, "cpu_seconds": run.cpu_seconds, **figures})
    return figures


def collector_of(run: Run, clock: Clock) -> Collector:
    """What plays this rank's deals of every iteration."""
    config = run.config
    batch = Batch(
        run.mixture, run.ranks.share(config.deals_per_iteration), reward="score" if config.reward == "score" else "margin",
        start_scores=config.start_scores, restart=False, skip_forced=True,
    )  # fmt: skip
    partner = after_bidding = returns = exact = None
    if config.play_values == "exact":
        from training.exact_play import ExactPlay, deal_returns  # the solver compiles

        after_bidding = ExactPlay(config.exact_play_cards).finish
        returns = functools.partial(deal_returns, reward=config.reward, slots=batch.layout.slots)
    elif run.partner is not None:
        partner = Player(config.partner, run.partner, 0)
    if run.equity:
        returns = functools.partial(run.equity.returns, slots=batch.layout.slots)
    if config.algorithm == "ppo" and config.ppo.exact_cards:
        from training.exact_values import ExactValues

        exact = ExactValues(config.ppo.exact_cards)
    teachers = (
        Teachers(run.teachers, batch.rules, run.device) if run.teachers and max(config.ppo.teaching, config.ppo.teaching_end) else None
    )
    return Collector(
        batch, run.columns, config.network.canonical_suits, run.device, clock, partner, after_bidding, returns, exact, teachers
    )


def opponents_of(run: Run) -> list[Opponent]:
    """Who has the other sides of which deals in this iteration: those of the opponent and of an earlier state, at least one of each that
    has a share; other deals in every iteration, so that of several games each meets them."""
    config, deals = run.config, run.ranks.share(run.config.deals_per_iteration)
    order = np.random.default_rng(run.stream(4)).permutation(deals)
    found, taken = [], 0
    fixed = Player(config.opponent, run.opponent, 1) if run.opponent else None
    for player, share in ((fixed, config.opponent_share), (run.past_opponent(), config.past_share)):
        if player and share:
            number = max(1, round(deals * share))
            found.append(Opponent(player, np.sort(order[taken : taken + number])))
            taken += number
    return found


class Stop:
    """Whether SIGINT or SIGTERM has asked the run to save and end; a second one ends it at once."""

    def __init__(self, says: bool = True) -> None:
        self.asked, self._says = False, says

    def __enter__(self) -> "Stop":
        self._before = {number: signal.signal(number, self._ask) for number in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _ask(self, number: int, frame: object) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True
        if self._says:
            print("\nstopping after this iteration …", file=sys.stderr, flush=True)


def main(argv: list[str]) -> None:
    """The command, alone or as one of torchrun's processes. Raises InputError with one line on wrong input."""
    with Ranks.joined() as ranks:
        with ranks.together():
            config, folder = _resumed(argv) if "--resume" in argv else _begun(argv)
        with ranks.together():
            if ranks.first:
                run = Run.begin(config, folder, ranks) if config else Run.resume(folder, ranks)
        with ranks.together():
            if not ranks.first:
                run = Run.resume(folder, ranks)
        if ranks.first:
            _say_what_begins(run)
        with Stop(says=ranks.first) as stop:
            finished = train(run, stop)
        if ranks.first:
            _say_how_it_ended(run, finished)
    if ranks.first and finished and run.config.exploiters:
        _exploit(run)


def _say_what_begins(run: Run) -> None:
    config, world = run.config, run.ranks.world
    of_ranks = f", {world} ranks" if world > 1 else ""
    print(
        f"run {run.folder}: {', '.join(config.games) or config.game}, {config.parts} by {config.algorithm}, "
        f"{config.iterations} iterations of {config.deals_per_iteration} deals on {run.device}{of_ranks}",
        flush=True,
    )
    if run.saved_by not in (0, world):
        print(f"ranks: {run.saved_by} until now, {world} from here; as good, but not bit for bit as with {run.saved_by}", flush=True)


def _say_how_it_ended(run: Run, finished: bool) -> None:
    if finished:
        last = run.curve[-1]
        for name in run.measured_against:
            print(f"{run.folder} over {name}: {last[f'eval/vs_{name}']:+.3f} ± {last[f'eval/vs_{name}_half_width']:.3f} points a deal")
    else:
        print(f"stopped at iteration {run.iteration} of {run.config.iterations} and saved")
        print(f"go on with: {'python' if run.ranks.world == 1 else 'torchrun …'} -m training train --resume {run.folder}")


def _exploit(run: Run) -> None:
    """Train exploiters against the finished agent, in its folder, and say what they gain; stopped, they go on with --resume."""
    from training import best_response  # which trains

    config, out = run.config, run.folder / "exploiters"
    best_response.run(
        best_response.Arguments(
            agent=best_response.begun_with(out) or str(run.folder), out=out, rules=config.game, iterations=config.exploiters, seeds=1,
            deals=config.evaluation.final_deals,
            changes=tuple(f"{name}={json.dumps(value)}" for name, value in config.rules.items()), json=run.folder / "best_response.json",
        )
    )  # fmt: skip


def _resumed(argv: list[str]) -> tuple[None, Path]:
    if len(argv) != 2 or argv[0] != "--resume":
        raise ConfigError("--resume: takes the folder of a run, and nothing else with it: its configuration is kept")
    return None, Path(argv[1])


def _begun(argv: list[str]) -> tuple[TrainConfig, Path]:
    path = Path(argv[0]) if argv and not argv[0].startswith("-") else None
    default = load_config(path) if path else TrainConfig()

    def arguments(
        run: Path | None = None,
        set: tuple[str, ...] = (),
        config: Annotated[TrainConfig, tyro.conf.arg(name="")] = default,
    ) -> tuple[Path | None, TrainConfig]:
        """Train a bidding network and a play network: train [CONFIG.toml] [options], or train --resume RUN.

        They learn by self-play, or with --opponent AGENT against a frozen one.

        Every field of the configuration can be changed by an option. The run's folder gets checkpoints, TensorBoard events and
        summary.json.

        Args:
            run: Folder of the run; by default runs/ and the name of the configuration.
            set: Fields of the rules to change, FIELD=VALUE, for example: --set widow=2 win=made_bid
            config: The configuration.
        """
        changes = rule_changes(set)
        return run, dataclasses.replace(config, rules={**config.rules, **changes})

    options = ["--run", "--set", *option_names(TrainConfig, without=("rules",))]
    folder, config = parse(arguments, argv[1:] if path else argv, "train", options)
    config.load_rules()
    return config, folder or Path("runs") / (path.stem if path else config.game)
