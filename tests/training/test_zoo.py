"""`training zoo`: from a configuration to three files that agree, again from wherever it was stopped; and the check of what ships."""

import dataclasses
import json
import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest

import agents
from agents import zoo
from agents.learned import TwoPartPolicy
from pitchenv import load_rules
from pitchenv.checks import InputError
from training import zoo as command
from training import zoo_measure
from training.referee import Match, play
from training.zoo import main
from training.zoo_card import markdown, overview, weaknesses
from training.zoo_check import allowed_difference, main_figures
from training.zoo_measure import Measured, Pairing, measure, plan
from training.zoo_pack import COMMITS_FILE, commit, install, looked_into_first

CONFIG = """
iterations = 3
deals_per_iteration = 24
checkpoint_every = 1
ppo = { minibatches = 4 }
network = { hidden = [16], critic_hidden = [16] }
evaluation = { every = 2, deals = 8, final_deals = 8 }
"""
QUICK = ("--deals", "64", "--minutes", "0.05")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with a configuration `little`, and a zoo of its own that is written to and looked into."""
    configs = tmp_path / "configs"
    configs.mkdir()
    (configs / "little.toml").write_text(CONFIG)
    monkeypatch.setattr(command, "CONFIGS", configs)
    monkeypatch.setenv(zoo.FOLDERS, str(tmp_path / "zoo"))
    monkeypatch.setattr(zoo, "SHIPPED", tmp_path / "none")  # what ships takes longer
    monkeypatch.setattr(zoo_measure, "OF_TWO_SIDES", "ismcts:iterations=3")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(place: Path, small_run: Path) -> str:
    """A finished run, elsewhere than one of the zoo."""
    return str(shutil.copytree(small_run, place / "elsewhere"))


def read(path: Path) -> dict[str, Any]:
    fields: dict[str, Any] = json.loads(path.read_text())
    return fields


def test_one_command_from_a_configuration_to_the_zoo(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["little", *QUICK])
    written = place / "zoo"
    assert sorted(path.name for path in written.iterdir()) == ["little.json", "little.md", "little.safetensors"]
    card = zoo.card("little")
    assert card["sha256"] == zoo.checksum(written / "little.safetensors")
    assert (written / "little.md").read_text() == markdown(card)
    assert card["training"]["iterations"] == 3
    assert card["training"]["deals"] == 72
    assert card["training"]["commits"] == [commit()]
    assert card["training"]["config"]["network"]["hidden"] == tomllib.loads(CONFIG)["network"]["hidden"]
    assert card["networks"]["hidden"] == {"bidding": [16], "play": [16]}
    assert [(match["player"], match["against"]) for match in card["matches"]] == [
        ("zoo:little", "random"), ("zoo:little", "heuristic"), ("heuristic", "random"), ("zoo:little", "ismcts:iterations=3")
    ]  # fmt: skip
    margin, gap = (card["matches"][k]["margin"] for k in (1, 2))
    assert f"{margin / gap:.1%} of {gap:.2f}" in overview([card])
    bids = card["bidding"]
    assert sum(figures["pitches"] for figures in bids.values()) == pytest.approx(1)
    # The figures are those of `match` on the same deals, played by what ships.
    heuristic = card["matches"][1]
    again = play(Match(("a", "b"), ("zoo:little", "heuristic"), load_rules(heuristic["rules"]), heuristic["seed"]), heuristic["deals"])
    assert (again.margin, again.half_width) == (heuristic["margin"], heuristic["half_width"])
    # Once more: nothing is trained, the weights stay, and so do figures against others.
    before = read(written / "little.json")
    main(["little", "--stage", "measure", "--against", "heuristic:untuned", *QUICK])
    main(["little", "--stage", "train"])
    main(["little", "--stage", "pack"])
    main(["little", "--stage", "card", "--note", "It is little."])
    after = read(written / "little.json")
    assert after["matches"][:4] == before["matches"]
    assert after["matches"][4]["against"] == "heuristic:untuned"
    assert {key: value for key, value in after.items() if key not in ("matches", "notes")} == {
        key: value for key, value in before.items() if key not in ("matches", "notes")
    }
    assert "- It is little." in (written / "little.md").read_text()
    assert "has its 3 iterations" in capsys.readouterr().out


def test_what_others_do_to_the_draft_meanwhile(place: Path, run: str, monkeypatch: pytest.MonkeyPatch) -> None:
    main(["little", "--run", run, "--stage", "pack"])
    draft = Path(run) / "zoo" / "little.json"

    def meanwhile(change: Any) -> None:
        def slow(*arguments: Any) -> Measured:
            found = measure(*arguments)
            draft.write_text(json.dumps(change(read(draft))))
            return found

        monkeypatch.setattr(command, "measure", slow)

    meanwhile(lambda card: {**card, "notes": ["by another"]})
    main(["little", "--run", run, "--stage", "measure", "--against", "random", *QUICK])
    card = read(draft)
    assert (card["notes"], [match["against"] for match in card["matches"]]) == (["by another"], ["random"])
    meanwhile(lambda card: {**card, "sha256": "0" * 64})
    with pytest.raises(InputError, match="packed anew while it was measured"):
        main(["little", "--run", run, "--stage", "measure", "--against", "random", *QUICK])
    assert read(draft)["matches"] == card["matches"]


def test_a_stopped_run_goes_on_and_the_old_agent_stays_until_the_new_is_ready(place: Path, run: str) -> None:
    main(["little", "--run", run, *QUICK])
    old = {path.name: path.read_bytes() for path in (place / "zoo").iterdir()}
    config = place / "configs" / "little.toml"
    config.write_text(CONFIG.replace("iterations = 3", "iterations = 2"))
    main(["little", "--stage", "train"])
    own = place / "runs" / "zoo" / "little"
    config.write_text(CONFIG)
    with pytest.raises(InputError, match=r"was begun with iterations = 2; allowed: 3, as in little.toml, or another --run"):
        main(["little", "--stage", "train"])
    fields = read(own / "config.json")
    (own / "config.json").write_text(json.dumps({**fields, "iterations": 3}))
    with pytest.raises(InputError, match="not finished, at iteration 2 of 3; allowed: one that is"):
        main(["little", "--stage", "pack"])
    (own / COMMITS_FILE).write_text('["earlier"]')
    main(["little", "--stage", "train"])
    main(["little", "--stage", "pack"])
    with pytest.raises(InputError, match="not measured against heuristic"):
        main(["little", "--stage", "card"])
    assert {path.name: path.read_bytes() for path in (place / "zoo").iterdir()} == old
    draft = own / "zoo" / "little.json"
    assert read(draft)["training"]["commits"] == ["earlier", commit()]
    main(["little", "--stage", "measure", "--against", "heuristic", *QUICK])
    weights = own / "zoo" / "little.safetensors"
    content = weights.read_bytes()
    weights.write_bytes(content[:-1])
    with pytest.raises(InputError, match="its weights are not those of its JSON"):
        main(["little", "--stage", "card"])
    assert {path.name: path.read_bytes() for path in (place / "zoo").iterdir()} == old
    weights.write_bytes(content)
    main(["little", "--stage", "card"])
    assert zoo.card("little")["sha256"] == zoo.checksum(weights)
    assert (place / "zoo" / "little.safetensors").read_bytes() != old["little.safetensors"]


def test_check_agrees_with_true_cards_and_finds_a_false_one(place: Path, run: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["little", "--run", run, "--stage", "pack"])
    main(["little", "--run", run, "--stage", "measure", "--deals", "2000", "--against", "random", "heuristic"])
    main(["little", "--run", run, "--stage", "card"])
    check = ["--check", "--minutes", "0.02"]
    main(check)
    said = capsys.readouterr().out
    assert "zoo:little over heuristic, auction-4-partners: card -" in said
    assert "1 of 1 figures agree" in said
    with pytest.raises(InputError, match="seed = 1: a card was measured with it"):
        main([*check, "--seed", "1"])
    path = place / "zoo" / "little.json"
    card = read(path)
    card["matches"][1]["margin"] += 1.0
    path.write_text(json.dumps(card))
    with pytest.raises(InputError, match=r"little.md': not the card of little.json"):
        main(check)
    path.with_suffix(".md").write_text(markdown(card))
    with pytest.raises(SystemExit) as ended:
        main(check)
    assert ended.value.code == 1
    assert "DIFFERS" in capsys.readouterr().out


def test_how_far_two_measurements_may_be_apart() -> None:
    one = Measured("zoo:x", "heuristic", "smear", 10_000, 2, 1, 0.5, 0.0196, 0, 1.0)
    other = dataclasses.replace(one, half_width=0.0147, seed=2)
    assert allowed_difference(one, other, 1) == pytest.approx(2.576 * 0.0125, rel=2e-3)  # errors 0.01 and 0.0075
    assert allowed_difference(one, other, 10) == pytest.approx(3.291 * 0.0125, rel=2e-3)
    assert allowed_difference(one, dataclasses.replace(other, deals=3), 1) > 0.05


def test_only_main_figures_are_measured_again(place: Path) -> None:
    figures = [
        Measured("zoo:x", "random", "smear", 100, 2, 1, 3.0, 0.1, 0, 1.0),
        Measured("zoo:x", "heuristic", "smear", 100, 2, 1, 0.5, 0.1, 0, 1.0),
        Measured("zoo:x", "ismcts:iterations=3", "smear", 100, 2, 1, 0.5, 0.1, 0, 1.0),
        Measured("zoo:x", "ismcts:iterations=3", "auction-3", 100, 2, 1, 0.5, 0.1, 0, 1.0),
        Measured("zoo:x", "ismcts:iterations=300", "auction-3", 100, 2, 1, 0.5, 0.1, 0, 1.0),
        Measured("search:zoo:x,worlds=30", "heuristic", "smear", 100, 2, 1, 0.5, 0.1, 0, 1.0),
    ]
    card = {"name": "x", "matches": [figure.to_dict() for figure in figures]}
    assert main_figures(card) == [figures[1], figures[2], figures[4]]


def test_an_agent_for_any_rules_is_measured_in_every_game(place: Path, run: str) -> None:
    main(["smear", "--run", run, "--stage", "pack"])
    draft = Path(run) / "zoo"
    with looked_into_first(draft):
        policy = zoo.load("smear")
        for part in policy.parts.values():
            part.any_rules, part.slots = True, 4  # type: ignore[attr-defined]
        pairings = plan("generalist", policy, ())
    at = {
        name: [pairing.against for pairing in pairings if pairing.rules == load_rules(name)] for name in ("smear", "setback", "auction-5")
    }
    assert at["smear"] == ["random", "heuristic", "zoo:smear"]
    assert at["setback"][:2] == ["random", "heuristic"]
    assert at["auction-5"] == []  # it has four slots
    assert len({pairing.rules for pairing in pairings}) == 7


def test_measuring_ends_when_its_time_is_up() -> None:
    rules = load_rules("auction-4-partners")
    found = measure(Pairing("heuristic", "random", rules), 3, 1e-9)
    assert found.deals == 4096  # one part
    assert found.margin - found.half_width > 1


def test_the_card_names_weaknesses(place: Path, run: str) -> None:
    main(["little", "--run", run, *QUICK])
    card = zoo.card("little")
    match = card["matches"][1]

    def said(**changes: Any) -> str:
        return "\n".join(weaknesses({**card, "matches": [{**match, **changes}]}))

    assert "loses to `heuristic`: -0.500 ± 0.100" in said(margin=-0.5, half_width=0.1)
    assert "not shown to be ahead of `heuristic`" in said(margin=0.05, half_width=0.1)
    assert "heuristic" not in said(margin=0.5, half_width=0.1)
    searching = {"player": "search:zoo:little,worlds=30", "against": "zoo:little"}
    assert "leaves points on the table" in said(**searching, margin=0.5, half_width=0.1)
    assert "table" not in said(**searching, margin=0.05, half_width=0.1)
    assert "How far it can be exploited is not measured" in said()
    met = {"config": {**card["training"]["config"], "opponent": "heuristic", "opponent_share": 0.5}}
    assert "50% of its deals were against `heuristic`" in "\n".join(weaknesses({**card, "training": {**card["training"], **met}}))
    exploiters = [{"cpu_seconds": 600}, {"cpu_seconds": 1200}]
    best = {"gain": 0.25, "half_width": 0.03}
    report = {"agent": "runs/x", "rules": card["networks"]["rules"], "deals": 5000, "best": best, "exploiters": exploiters}
    (place / "exploited.json").write_text(json.dumps(report))
    main(["little", "--run", run, "--stage", "card", "--exploited", "exploited.json"])
    text = (place / "zoo" / "little.md").read_text()
    assert "Of 2 exploiters of `runs/x`, 15.0 CPU-minutes each, the best gains +0.250 ± 0.030 points a deal on 5,000 deals" in text
    assert "is not measured" not in text
    (place / "exploited.json").write_text(json.dumps({**report, "rules": "oklahoma-6"}))
    with pytest.raises(InputError, match=r"exploited = 'exploited.json': at rules = 'oklahoma-6'; allowed: 'auction-"):
        main(["little", "--run", run, "--stage", "card", "--exploited", "exploited.json"])


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        ([], "allowed: the NAME of one agent, or --check"),
        (["little", "--check"], "not both"),
        (["litle"], r"no such configuration; did you mean 'little'\?; allowed: little"),
        (["../little"], "small letters and digits"),
        (["little", "--minutes", "0"], "minutes = 0.0: allowed: above 0"),
        (["little", "--minutes", "nan"], "minutes = nan"),
        (["little", "--deals", "1"], "deals = 1: allowed: 2"),
        (["little", "--seed", "-1"], "seed = -1"),
        (["little", "--player", "search:zoo:little"], "takes --against"),
        (["little", "--stage", "pakc"], "stage"),
        (["little", "--stgae", "pack"], "did you mean '--stage'"),
        (["little", "--stage", "pack"], "not the folder of a run"),
        (["little", "--stage", "measure"], "nothing packed as 'little'"),
        (["little", "--stage", "card"], "nothing packed as 'little'"),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(argv: list[str], said: str, place: Path) -> None:
    with pytest.raises(InputError, match=said) as fault:
        main(argv)
    assert "\n" not in str(fault.value)
    assert [path.name for path in place.iterdir()] == ["configs"]


def test_more_bad_input_is_one_line(place: Path, run: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given = ["little", "--run", run]
    main([*given, "--stage", "pack"])
    with pytest.raises(InputError, match="ismcts"):
        main([*given, "--stage", "measure", "--against", "heuristic", "ismctss"])
    (place / "x.json").write_text("{}")
    with pytest.raises(InputError, match=r"exploited = 'x.json': missing or damaged; allowed: a file of best-response --json"):
        main([*given, "--stage", "card", "--exploited", "x.json"])
    monkeypatch.setattr(zoo, "SHIPPED", place / "none")
    with pytest.raises(InputError, match="zoo: holds nothing to check"):
        main(["--check"])
    main([*given, *QUICK])
    blocked = place / "file"
    blocked.write_text("")
    with pytest.raises(InputError, match=r"zoo '.*file': cannot be written"):
        install("little", Path(run) / "zoo", blocked)
    assert isinstance(agents.load("zoo:little"), TwoPartPolicy)
