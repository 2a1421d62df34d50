"""`python -m training best-response AGENT`: how much can be gained over an agent by one who trains against it alone.

The agent is frozen, and exploiters learn against it: from its own weights where it is a run of this kit, and from scratch. An exploiter
holds one side and the agent all others; its gain is the margin of its side, over all rotations of fresh deals. Two copies of the agent gain
nothing over each other, so this is what one side has by deviating. Exploiters have no exact critic: that knows how the agent should go on,
not how it does. A perfect best response gains at least as much: the figure is a lower bound on the agent's exploitability (of one side, as
in NashConv), not an estimate of it. See Timbers et al., "Approximate exploitability: learning a best response", 2022.
"""

import contextlib
import dataclasses
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro

import agents
from pitchenv import Rules
from pitchenv.checks import InputError, read_json, shown
from pitchenv.policies import Policy
from pitchenv.records import rules_text
from training.checkpoint import CONFIG_FILE, STATE_FILE, load_checkpoint
from training.command_line import check_new_file, option_names, parse, rule_changes, rules_of
from training.config import TrainConfig, from_dict, load_config
from training.files import write_file, writing
from training.frozen import freeze, frozen_spec, load_frozen, made_by_freeze
from training.intervals import interval
from training.parts import fresh_matches
from training.players import Player, play_deals
from training.result_file import check_another, versions, write_json
from training.run import Run, stream_seed
from training.train import Stop, train

PLAN_FILE = "best_response.json"
AGENT_FOLDER = "agent"
CHOOSING, MEASURING = 3, 4  # streams of deals of a seed; training has others
AT_ONCE = 8192  # matches in memory
GENTLE_LR = 3e-4
MOST_SEEDS, MOST_DEALS = 100, 10_000_000


@dataclass(frozen=True)
class Arguments:
    """Freeze an agent, train exploiters against it, and report what they gain: a lower bound on its exploitability.

    Exploiters start from scratch, and from the agent's own networks where it is a run, or built on one; as many of each as there are
    seeds. The best of them is chosen on one set of deals and measured on another. Stopped, the same command goes on.

    Example: python -m training best-response runs/mine --out runs/mine-exploited --iterations 200 --seeds 2
    """

    agent: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="AGENT")]
    """The agent to exploit: random, heuristic, zoo:NAME, a run folder, sampled:RUN, pimc:worlds=N, ismcts:iterations=N,
    search:RUN,worlds=N, or module:Class of your own. A run does what it holds likeliest, sampled:RUN draws from its probabilities. The
    zoo's files hold no critic: against zoo:NAME exploiters start from scratch alone."""

    out: Path
    """A new folder for the exploiters, each a run of its own, and a copy of the agent; or one of a stopped best-response, to go on."""

    rules: str = "auction-4-partners"
    """A game of the table, or a TOML file of house rules."""

    changes: Annotated[tuple[str, ...], tyro.conf.arg(name="set", metavar="FIELD=VALUE")] = ()
    """Fields of the rules to change, for example: --set widow=2 win=made_bid"""

    iterations: int = 200
    """Length of each exploiter's training."""

    seeds: int = 2
    """Exploiters of each kind."""

    deals: int = 10_000
    """Deals on which they are compared, and as many on which the best is measured."""

    seed: int = 1
    """Of everything random; exploiter k of a kind trains with seed + k − 1."""

    config: Path | None = None
    """A training configuration for the exploiters; by default that of the agent's run, or else the defaults of train. Exploiters that start
    from the agent's own networks take its last entropy (or share of uniform actions) and at most a step size of 3e-4."""

    json: Path | None = None
    """A file for the result: every exploiter's gain, the best one's on fresh deals, the lower bound."""


@dataclass(frozen=True)
class Exploiter:
    """One that is to be trained, and where."""

    start: str  # "own": from the agent's weights; "scratch"
    folder: Path
    config: TrainConfig


def main(argv: Sequence[str]) -> None:
    """Run the command. Raises InputError with one line on wrong input."""
    run(parse(Arguments, argv, "best-response", ["--set", *option_names(Arguments, without=("agent", "changes"))]))


def begun_with(out: Path) -> str | None:
    """The agent that a folder's best-response was begun with; None where none was."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        return str(read_json(out / PLAN_FILE)["agent"])
    return None


def run(arguments: Arguments) -> dict[str, Any] | None:
    """Train what is not trained yet, measure, print, and return what `--json` writes; None when stopped on the way."""
    _check(arguments)
    rules = rules_of(arguments.rules, arguments.changes)
    exploiters = plan(arguments, _begin_or_go_on(arguments, rules))
    with Stop() as stop:
        for exploiter in exploiters:
            if not _trained(exploiter, stop):
                print(f"stopped in {exploiter.folder}; the same command goes on")
                return None
    report = _measure(arguments, rules, exploiters)
    _show(report)
    if arguments.json:
        write_json("json", arguments.json, report)
    return report


def _check(arguments: Arguments) -> None:
    for name, value, low, high in (
        ("iterations", arguments.iterations, 1, 10**9), ("seeds", arguments.seeds, 1, MOST_SEEDS),
        ("deals", arguments.deals, 2, MOST_DEALS), ("seed", arguments.seed, 0, 2**63 - 1),
    ):  # fmt: skip
        if not low <= value <= high:
            raise InputError(f"{name} = {value}: allowed: {low} … {high}")
    if arguments.json:
        check_new_file("json", arguments.json)
        check_another("json", arguments.json, f"the {PLAN_FILE} of out", arguments.out / PLAN_FILE)


def _begin_or_go_on(arguments: Arguments, rules: Rules) -> TrainConfig:
    """Freeze the agent in a new folder, or refuse one where something else was begun; returns how exploiters train."""
    out, path = f"out = {str(arguments.out)!r}", arguments.out / PLAN_FILE
    ours: dict[str, Any] = {
        "agent": arguments.agent, "rules": rules.to_dict(), "iterations": arguments.iterations, "seed": arguments.seed,
    }  # fmt: skip
    if arguments.config:
        ours["config"] = load_config(arguments.config).to_dict()
    if os.path.exists(path):  # False too for what no file can be called
        try:
            theirs = read_json(path)
            different = [name for name in ours if theirs[name] != ours[name]]
            base: TrainConfig = from_dict(theirs["config"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            raise InputError(f"{out}: its {PLAN_FILE} is damaged; allowed: another folder") from None
        if different:
            began = f"{different[0]} = {shown(theirs[different[0]])}"
            raise InputError(f"{out}: was begun with {began}; allowed: the same, or another folder")
        return base
    Player(arguments.agent, agents.load(arguments.agent), 0).reset(rules, 1, [0])  # refuses one for other rules before anything is written
    with writing(out):
        if not arguments.out.name:
            raise OSError(0, "not a folder's name")
        if not _is_free(arguments.out):
            raise InputError(f"{out}: not empty and no best-response of this kit; allowed: a new folder, or one to go on with")
        arguments.out.mkdir(parents=True, exist_ok=True)
        freeze(arguments.agent, arguments.out / AGENT_FOLDER, with_state=True)
        own = _own_networks(arguments.out)
        base = from_dict(ours.setdefault("config", (load_checkpoint(own)[0] if own else TrainConfig()).to_dict()))
        write_file(path, json.dumps(ours, indent=1).encode())  # last: a folder that has it is ours, with the agent whole
    return base


def _is_free(out: Path) -> bool:
    """Whether a folder without a plan is new or empty, or holds nothing but an agent that was being frozen when we were stopped."""
    names = {path.name for path in out.iterdir()} - {PLAN_FILE + ".tmp"} if out.is_dir() else set()
    return not names or (names == {AGENT_FOLDER} and made_by_freeze(out / AGENT_FOLDER))


def _own_networks(out: Path) -> Path | None:
    """The copy of the run that the agent is, or is built on, if it can be trained on."""
    for copy in sorted((out / AGENT_FOLDER).iterdir()):
        if (copy / CONFIG_FILE).is_file() and any(copy.glob(f"checkpoints/*/{STATE_FILE}")):
            return copy
    return None


def plan(arguments: Arguments, base: TrainConfig) -> list[Exploiter]:
    """The exploiters of a folder where the agent lies frozen."""
    agent = frozen_spec(arguments.out / AGENT_FOLDER)
    common = dataclasses.replace(
        base,
        device="auto" if base.device == "cuda" else base.device,
        game=arguments.rules,
        rules=rule_changes(arguments.changes),
        iterations=arguments.iterations,
        parts="both",
        opponent=agent,
        opponent_share=1.0,
        past_share=0.0,
        games=(),
        house_rules=0,
        games_weight=1,
        teachers=(),
        play_values="played",
        reward="margin",  # what a gain is measured in
        equity="",
        exploiters=0,
        start_from="",
        ppo=dataclasses.replace(base.ppo, exact_cards=0),  # see the module
    )
    kinds = {"scratch": common}
    own = _own_networks(arguments.out)
    learned = load_checkpoint(own)[0] if own else None
    if learned and not learned.games:  # networks for several games read more than those for one
        # Where a part was not learned, what the run has in its place goes on playing it.
        start = dataclasses.replace(
            _gently(common), start_from=str(own), algorithm=learned.algorithm, network=learned.network, parts=learned.parts,
            partner=str(own), start_scores=learned.start_scores,
        )  # fmt: skip
        kinds = {"own": start} | kinds
    return [
        Exploiter(start, arguments.out / f"{start}-{k + 1}", dataclasses.replace(config, seed=arguments.seed + k))
        for start, config in kinds.items()
        for k in range(arguments.seeds)
    ]


def _gently(config: TrainConfig) -> TrainConfig:
    """A schedule for networks that play well already: what the whole one would first unlearn is where they can be improved from."""
    ppo = dataclasses.replace(config.ppo, lr=min(config.ppo.lr, GENTLE_LR), entropy=config.ppo.entropy_end)
    dmc = dataclasses.replace(config.dmc, lr=min(config.dmc.lr, GENTLE_LR), epsilon=config.dmc.epsilon_end)
    return dataclasses.replace(config, ppo=ppo, dmc=dmc)


def _trained(exploiter: Exploiter, stop: Stop) -> bool:
    """Train an exploiter to its end, from where it is; False when stopped before."""
    begun = (exploiter.folder / CONFIG_FILE).exists()
    run = Run.resume(exploiter.folder) if begun else Run.begin(exploiter.config, exploiter.folder)
    if run.iteration >= run.config.iterations:
        return True
    print(f"{exploiter.folder}: iterations {run.iteration} to {run.config.iterations}", flush=True)
    return train(run, stop)


def gain(exploiter: Policy, agent: Policy, rules: Rules, deals: int, seed: int) -> np.ndarray:
    """What the exploiter gains with one side against the agent on all others, (deals,) float64, points a deal.

    A deal's is the mean, over the sides that the exploiter can hold, of the margin of that side (its score less the mean of the others') on
    the same cards. For two sides it is the margin of duplicate play. Raises AgentError.
    """
    sides = np.arange(rules.sides)
    players = [Player("exploiter", exploiter, 0), Player("agent", agent, 1)]
    out = np.zeros(deals)
    size = max(1, AT_ONCE // rules.sides)
    for at in range(0, deals, size):
        dealt = fresh_matches(rules, seed, at, min(size, deals - at))
        held = sides.repeat(len(dealt))
        for player in players:
            player.reset(rules, len(held), (seed, at))
        ended = play_deals(players, rules, np.tile(dealt, rules.sides), np.where(held[:, None] == sides, 0, 1))
        change = ended["public"]["change"][:, : rules.sides].astype(np.float64)
        own = change[np.arange(len(held)), held]
        margin = own - (change.sum(axis=1) - own) / (rules.sides - 1)
        out[at : at + size] = margin.reshape(rules.sides, len(dealt)).mean(axis=0)
    return out


def _measure(arguments: Arguments, rules: Rules, exploiters: Sequence[Exploiter]) -> dict[str, Any]:
    """Every exploiter's gain, then the best one's on deals that had no part in choosing it."""
    agent = load_frozen(arguments.out / AGENT_FOLDER)
    rows: list[dict[str, Any]] = []
    for exploiter in exploiters:
        player, (config, state) = agents.load(exploiter.folder), load_checkpoint(exploiter.folder)
        mean, half_width = interval(gain(player, agent, rules, arguments.deals, stream_seed(arguments.seed, CHOOSING)))
        rows.append({
            "name": exploiter.folder.name, "start": exploiter.start, "seed": config.seed, "folder": str(exploiter.folder),
            "deals_trained": state["iteration"] * config.deals_per_iteration, "cpu_seconds": state["cpu_seconds"],
            "gain": mean, "half_width": half_width,
        })  # fmt: skip
    best = max(rows, key=lambda row: row["gain"])
    player = agents.load(best["folder"])
    mean, half_width = interval(gain(player, agent, rules, arguments.deals, stream_seed(arguments.seed, MEASURING)))
    return {
        "agent": arguments.agent,
        "rules": rules_text(rules),
        "deals": arguments.deals,
        "seed": arguments.seed,
        "iterations": arguments.iterations,
        "exploiters": rows,
        "best": {"name": best["name"], "gain": mean, "half_width": half_width},
        "lower_bound": max(0.0, mean - half_width),
        "versions": versions(),
    }


def _show(report: dict[str, Any]) -> None:
    agent, best = report["agent"], report["best"]
    game = report["rules"] if isinstance(report["rules"], str) else "house rules"
    print(f"{game}: points a deal that one side gains over {agent} on all others; {report['deals']} deals, 95 % intervals (Student's t)")
    for row in report["exploiters"]:
        trained = f"from {row['start']}, seed {row['seed']}, {row['deals_trained']:,} deals, {row['cpu_seconds']:.0f} s"
        print(f"  {row['name']}: {row['gain']:+.3f} ± {row['half_width']:.3f} ({trained})")
    print(f"the best of them, {best['name']}, on deals that did not choose it: {best['gain']:+.3f} ± {best['half_width']:.3f}")
    if report["lower_bound"] > 0:
        print(f"lower bound on the exploitability of {agent}: {report['lower_bound']:.3f} points a deal; a better exploiter may gain more")
    else:
        print(f"no gain over {agent} is shown: the lower bound is 0, which does not say that there is none to be had")
