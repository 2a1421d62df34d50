"""`python -m training zoo NAME`: an agent of the zoo from its configuration to its card, in stages that can be repeated.

    train     its run, from configs/zoo/NAME.toml, or on from where it is
    pack      the run's networks to a draft: float16, one file, and what is known of their training
    measure   the draft's figures, against fixed players
    card      the card from the draft's JSON; then the three files into the zoo, in the place of what was there

The draft lies in the run, under `zoo/`. `python -m training zoo --check` measures again what is in the zoo (`training.zoo_check`).
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import tyro

import agents
from agents import zoo
from pitchenv.checks import InputError, near
from training import train
from training.checkpoint import CONFIG_FILE, finished, load_checkpoint
from training.command_line import option_names, parse
from training.config import load_config
from training.zoo_check import check
from training.zoo_measure import Pairing, bidding, measure, plan, rules_of
from training.zoo_pack import DRAFT_FOLDER, exploited_from, install, looked_into_first, pack, read_draft, record_commit, write_draft

CONFIGS = Path(__file__).parents[1] / "configs" / "zoo"
STAGES: Final = ("train", "pack", "measure", "card")
BIDDING_DEALS: Final = 8192
CARD_MINUTES: Final = 9.0
CHECK_MINUTES: Final = 17.0  # loading and the last parts come on top
MOST_MINUTES: Final = 10_000.0


@dataclass(frozen=True)
class Arguments:
    """Train an agent of the zoo, measure it and pack it with its card; or measure what is in the zoo again.

    Stopped, the same command goes on with the training. An agent that is in the zoo is replaced only when all of the new one is ready.

    Examples: python -m training zoo smear; python -m training zoo smear --stage measure --against pimc:worlds=30 --minutes 30;
    python -m training zoo --check
    """

    name: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="NAME")] = ""
    """The agent: configs/zoo/NAME.toml says how it is trained."""

    check: bool = False
    """Measure the main figures of every agent in the zoo again, on fresh deals; exit code 1 if one does not agree with its card."""

    stage: Literal["all", "train", "pack", "measure", "card"] = "all"
    """Do this stage alone."""

    run: Path | None = None
    """The folder of the run; runs/zoo/NAME if not given. A finished run that lies anywhere can be packed."""

    player: str = ""
    """Measure this player in the place of zoo:NAME, such as search:zoo:NAME,worlds=30; takes --against."""

    against: tuple[str, ...] = ()
    """Measure against these players; if not given, random, heuristic, and one that searches: pimc:worlds=10 for two sides,
    ismcts:iterations=300 for more. Figures against others stay in the card."""

    deals: int | None = None
    """The most deals against each; if not given, 40,000 against fast players and 6,400 against those that search, as the time allows."""

    minutes: float | None = None
    """CPU minutes of measuring, about: 9 for a card, 17 for --check."""

    seed: int | None = None
    """Of the deals: 1 for a card, 2 for --check."""

    exploited: Path | None = None
    """The JSON of a best-response against this agent, for the card."""

    note: tuple[str, ...] = ()
    """Known weaknesses that figures don't show, a sentence each, for the card; they replace those given before."""


def main(argv: Sequence[str]) -> None:
    """Run the command; exits with 1 where --check finds a difference. Raises InputError with one line on wrong input."""
    arguments = parse(Arguments, argv, "zoo", option_names(Arguments, without=("name",)))
    _check_arguments(arguments)
    if arguments.check:
        minutes = CHECK_MINUTES if arguments.minutes is None else arguments.minutes
        compared = check(2 if arguments.seed is None else arguments.seed, minutes * 60)
        if not all(one.agrees for one in compared):
            sys.exit(1)
        return
    run = arguments.run or Path("runs") / "zoo" / arguments.name
    for stage in STAGES if arguments.stage == "all" else (arguments.stage,):
        if not DO[stage](arguments, run):
            return


def _check_arguments(arguments: Arguments) -> None:
    """Everything that can be refused before the first stage."""
    if arguments.check == bool(arguments.name):
        raise InputError("zoo: allowed: the NAME of one agent, or --check" + (", not both" if arguments.check else ""))
    if arguments.minutes is not None and not 0 < arguments.minutes <= MOST_MINUTES:
        raise InputError(f"minutes = {arguments.minutes}: allowed: above 0, to {MOST_MINUTES:g}")
    if arguments.deals is not None and not 2 <= arguments.deals <= 10_000_000:
        raise InputError(f"deals = {arguments.deals}: allowed: 2 … 10000000")
    if arguments.seed is not None and not 0 <= arguments.seed < 2**63:
        raise InputError(f"seed = {arguments.seed}: allowed: 0 … 2^63 − 1")
    if arguments.name and not zoo.NAME.fullmatch(arguments.name):
        raise InputError(f"name = {arguments.name!r}: allowed: small letters and digits, with hyphens between")
    if arguments.player and not arguments.against:
        raise InputError(f"player = {arguments.player!r}: takes --against; allowed: both, or neither")


def _train(arguments: Arguments, run: Path) -> bool:
    """Begin the run or go on with it; whether it has its length."""
    path = CONFIGS / f"{arguments.name}.toml"
    if not (run / CONFIG_FILE).exists():
        if not path.is_file():
            known = sorted(file.stem for file in CONFIGS.glob("*.toml"))
            raise InputError(f"name = {arguments.name!r}: no such configuration{near(arguments.name, known)}; allowed: {', '.join(known)}")
        load_config(path)
        record_commit(run)
        train.main([str(path), "--run", str(run)])
    else:
        config, state = load_checkpoint(run)
        if arguments.run is None and path.is_file():
            ours, theirs = load_config(path).to_dict(), config.to_dict()
            for field in ours:
                if ours[field] != theirs[field]:
                    begun = f"was begun with {field} = {theirs[field]!r}"
                    raise InputError(f"run {str(run)!r}: {begun}; allowed: {ours[field]!r}, as in {path.name}, or another --run")
        if finished(config, state):
            print(f"run {run}: has its {config.iterations} iterations")
            return True
        record_commit(run)
        train.main(["--resume", str(run)])
    return finished(*load_checkpoint(run))


def _pack(arguments: Arguments, run: Path) -> bool:
    card = pack(arguments.name, run)
    print(f"packed: {card['bytes']:,} bytes, sha256 {card['sha256'][:16]}…")
    return True


def _measure(arguments: Arguments, run: Path) -> bool:
    """Add figures to the draft, each as soon as it is known."""
    name, draft, seed = arguments.name, run / DRAFT_FOLDER, 1 if arguments.seed is None else arguments.seed
    card = read_draft(name, draft)
    with looked_into_first(draft):
        policy = zoo.load(name)
        pairings = plan(name, policy, arguments.against)
        if arguments.player:
            pairings = [Pairing(arguments.player, pairing.against, pairing.rules) for pairing in pairings]
        for spec in {spec for pairing in pairings for spec in (pairing.player, pairing.against)}:
            agents.load(spec)  # what can't be loaded is refused before the first deal
        left = (CARD_MINUTES if arguments.minutes is None else arguments.minutes) * 60
        for k, pairing in enumerate(pairings):
            found = measure(pairing, seed, left / (len(pairings) - k), arguments.deals)
            left -= found.cpu_seconds
            card = _still(card, draft)
            same = {key: getattr(found, key) for key in ("player", "against", "rules")}
            others = [match for match in card["matches"] if any(match[key] != value for key, value in same.items())]
            card["matches"] = [*others, found.to_dict()]
            write_draft(card, draft)
            print(f"{found.player} over {found.against}: {found.margin:+.3f} ± {found.half_width:.3f} ({found.deals} deals)", flush=True)
        if not arguments.against and len(rules_of(policy)) == 1:
            most = min(BIDDING_DEALS, arguments.deals or BIDDING_DEALS)
            figures = bidding(name, rules_of(policy)[0], seed, most)
            card = _still(card, draft) | {"bidding": figures}
            write_draft(card, draft)
    return True


def _still(card: dict[str, Any], draft: Path) -> dict[str, Any]:
    """The draft's JSON as it is now: others may have added figures meanwhile. Raises InputError where its weights are others now."""
    now = read_draft(card["name"], draft)
    if now["sha256"] != card["sha256"]:
        raise InputError(f"draft {str(draft)!r}: packed anew while it was measured; allowed: --stage measure once more")
    return now


def _card(arguments: Arguments, run: Path) -> bool:
    draft = run / DRAFT_FOLDER
    card = read_draft(arguments.name, draft)
    if arguments.exploited:
        card["exploited"] = exploited_from(arguments.exploited, card["networks"])
    if arguments.note:
        card["notes"] = list(arguments.note)
    write_draft(card, draft)
    for path in install(arguments.name, draft, zoo.folders()[0]):
        print(f"written: {path}")
    return True


DO: Final = {"train": _train, "pack": _pack, "measure": _measure, "card": _card}
