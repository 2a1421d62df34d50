"""Options of players that search: typed, in range, each once; a bad one is one clear line."""

from typing import Any

import pytest

import agents
from agents.search.options import read_options, real, split_subject, whole, word, yes_no

KNOWN = {"worlds": whole(30, 1, 500), "inference": yes_no(True), "exploration": real(1.5, 0, 10), "rollout": word("heuristic", "an agent")}
DEFAULTS = {"worlds": 30, "inference": True, "exploration": 1.5, "rollout": "heuristic"}


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("", {}),
        ("worlds=500", {"worlds": 500}),
        ("inference=no,worlds=1", {"worlds": 1, "inference": False}),
        ("exploration=0", {"exploration": 0.0}),
        ("exploration=1e1,rollout=runs/lr=3", {"exploration": 10.0, "rollout": "runs/lr=3"}),
        ("rollout=heuristic:untuned", {"rollout": "heuristic:untuned"}),
    ],
)
def test_options_are_read(text: str, given: dict[str, Any]) -> None:
    values = read_options("pimc", text, KNOWN)
    assert values == DEFAULTS | given
    assert {name: type(value) for name, value in values.items()} == {name: type(value) for name, value in DEFAULTS.items()}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("worlds=0", "worlds = '0': allowed: a whole number, 1 … 500"),
        ("worlds=-3", "worlds = '-3': allowed: a whole number, 1 … 500"),
        ("worlds=501", "worlds = '501'"),
        ("worlds=many", "worlds = 'many': allowed: a whole number, 1 … 500"),
        ("worlds=3.5", "worlds = '3.5'"),
        ("worlds=", "worlds = ''"),
        ("worlds=" + "9" * 5000, "allowed: a whole number, 1 … 500"),
        ("worlds=٣", "worlds = '٣'"),
        ("worlds", "option 'worlds' has no value; allowed: worlds=…"),
        ("worlds=3,worlds=4", "option 'worlds' is given twice"),
        ("worlds=3,", "'' is no option; allowed: name=value, of worlds, inference, exploration, rollout"),
        ("30", "'30' is no option; allowed: name=value"),
        ("wordls=3", "option 'wordls': unknown; did you mean 'worlds'?"),
        ("=3", "option '': unknown; allowed: worlds"),
        ("inference=maybe", "inference = 'maybe': allowed: yes, no"),
        ("inference=True", "inference = 'True': allowed: yes, no"),
        ("exploration=nan", "exploration = 'nan': allowed: a number, 0 … 10"),
        ("exploration=inf", "exploration = 'inf'"),
        ("exploration=high", "exploration = 'high'"),
        ("rollout=", "rollout = '': allowed: an agent"),
        ("worlds=3\nworlds=4", "allowed: a whole number"),
    ],
)
def test_a_bad_option_is_one_clear_line(text: str, said: str) -> None:
    with pytest.raises(agents.AgentError, match=r"^agent 'pimc': ") as refusal:
        read_options("pimc", text, KNOWN)
    assert said in str(refusal.value)
    assert len(str(refusal.value).splitlines()) == 1
    assert len(str(refusal.value)) < 400


def test_what_an_agent_is_built_on_comes_first() -> None:
    assert split_subject("search", "runs/a", KNOWN, "RUN") == ("runs/a", "")
    assert split_subject("search", "runs/lr=3,worlds=3,inference=no", KNOWN, "RUN") == ("runs/lr=3", "worlds=3,inference=no")


@pytest.mark.parametrize("text", ["", "worlds=30", "worlds=30,runs/a", ",worlds=3"])
def test_without_it_an_agent_is_refused(text: str) -> None:
    with pytest.raises(agents.AgentError, match="in the place of RUN; allowed: search:RUN"):
        split_subject("search", text, KNOWN, "RUN")
