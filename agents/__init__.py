"""Players that learn or search, and `load`: every player of the kit by name."""

import importlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from pitchenv.checks import InputError, check_keys, near
from pitchenv.policies import Policy
from pitchenv.policies.heuristic import HeuristicPolicy
from pitchenv.policies.heuristic.parameters import TUNED, UNTUNED
from pitchenv.policies.random import RandomPolicy

READS: Final = ("observation", "view")


class AgentError(InputError):
    """An agent that can't be loaded, or does not keep to what a `Policy` is; the message is one line."""


def _random(option: str) -> Policy:
    if option:
        raise AgentError(f"option of agent 'random': {option!r}; allowed: none")
    return RandomPolicy()


def _heuristic(option: str) -> Policy:
    if option:
        check_keys([option], ["untuned"], AgentError, "option of agent 'heuristic'")
    return HeuristicPolicy(UNTUNED if option else TUNED)


def _zoo(name: str, greedy: bool = True) -> Policy:
    from agents import zoo

    return zoo.load(name, greedy=greedy)


def _sampled(option: str) -> Policy:
    if option.startswith("zoo:"):
        return _zoo(option.removeprefix("zoo:"), greedy=False)
    if not option or not os.path.isdir(option):
        raise AgentError(f"agent 'sampled': {option!r} is no run; allowed: sampled:RUN, RUN the folder of a run or zoo:NAME")
    from agents.learned import load_run

    return load_run(Path(option), greedy=False)


def _searcher(module: str) -> Callable[[str], Policy]:
    """A player of `agents.search`, imported when it is asked for."""

    def make(options: str) -> Policy:
        policy: Policy = importlib.import_module(f"agents.search.{module}").from_options(options)
        return policy

    return make


SEARCHERS: Final = {"pimc": "pimc", "ismcts": "ismcts", "search": "lookahead"}  # their modules in `agents.search`

# Name, and what makes a player from what stands behind its colon.
PLAYERS: Final[dict[str, Callable[[str], Policy]]] = {
    "random": _random,
    "heuristic": _heuristic,
    "zoo": _zoo,
    "sampled": _sampled,
    **{name: _searcher(module) for name, module in SEARCHERS.items()},
}


def load(spec: str | os.PathLike[str]) -> Policy:
    """The player that a spec names.

    - `"random"`; `"heuristic"` or `"heuristic:untuned"`.
    - `"zoo:NAME"`: a trained agent that ships (`agents.zoo`).
    - The path of a run folder: its networks, doing what they hold likeliest; `"sampled:RUN"`: drawing from their probabilities.
      RUN may be `zoo:NAME` there and below.
    - `"pimc:worlds=30"`: sampled worlds, each solved with open hands (`agents.search.pimc`).
    - `"ismcts:iterations=1000"`: a tree of information sets (`agents.search.ismcts`).
    - `"search:RUN,worlds=30"`: one step of look-ahead on a run or another agent (`agents.search.lookahead`).
    - `"module:Class"`: a class of your own that makes a player without arguments.

    Options stand behind the colon as `name=value`, with commas between; see the modules named. Raises ValueError with one line when there
    is no such player or it can't act.
    """
    if not isinstance(spec, str | os.PathLike) or len(spec := str(os.fspath(spec))) > 1000 or "\0" in spec:
        raise AgentError(f"agent {str(spec)[:40]!r}: not a spec; allowed: {', '.join(PLAYERS)}, a run folder, or module:Class")
    name, colon, rest = spec.partition(":")
    if name in PLAYERS:
        return PLAYERS[name](rest)
    if spec and os.path.isdir(spec):
        from agents.learned import load_run

        return load_run(Path(spec))
    if (spec and os.path.exists(spec)) or "/" in spec or "\\" in spec:
        what = "is a file" if os.path.exists(spec) else "does not exist"
        raise AgentError(f"agent {spec!r}: {what}; allowed: the folder of a run")
    if name and colon:
        return _user_class(spec, name, rest)
    raise AgentError(f"agent {spec!r}: unknown{near(spec, PLAYERS)}; allowed: {', '.join(PLAYERS)}, a run folder, or module:Class")


def said(fault: BaseException, named: bool = True) -> str:
    """What an exception of a user's code says, in one line, behind its type's name; only that name if it says nothing or its text fails."""
    name = type(fault).__name__
    try:
        text = " ".join(str(fault).split())
    except (Exception, SystemExit):
        text = ""
    return f"{name}: {text}" if named and text else text or name


def _user_class(spec: str, module_name: str, class_name: str) -> Policy:
    """A player of a class of the user's own."""
    try:
        module = importlib.import_module(module_name)
    except (Exception, SystemExit) as fault:  # whatever the user's module raises
        raise AgentError(f"agent {spec!r}: module {module_name!r} does not import: {said(fault)}{near(module_name, PLAYERS)}") from fault
    made = getattr(module, class_name, None)
    if not callable(made):
        known = [n for n, value in vars(module).items() if isinstance(value, type) and not n.startswith("_")]
        raise AgentError(f"agent {spec!r}: module {module_name!r} has no class {class_name!r}{near(class_name, known)}")
    try:
        player = made()
    except (Exception, SystemExit) as fault:
        raise AgentError(f"agent {spec!r}: {class_name}() fails: {said(fault)}; allowed: a class that needs no arguments") from fault
    return check_player(player, spec)


def check_player(player: Any, spec: str) -> Policy:
    """The player itself, if it has what a `Policy` needs; else AgentError."""
    for method in ("reset", "act"):
        if not callable(getattr(player, method, None)):
            raise AgentError(f"agent {spec!r}: {type(player).__name__} has no method {method!r}; allowed: a pitchenv.policies.Policy")
    reads = getattr(player, "reads", None)
    if reads not in READS:
        raise AgentError(f"agent {spec!r}: reads = {reads!r}; allowed: {', '.join(READS)}")
    policy: Policy = player
    return policy
