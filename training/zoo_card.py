"""The card of a zoo agent for people, made from the JSON of the agent and from nothing else."""

from collections.abc import Sequence
from typing import Any

from pitchenv.checks import shown


def markdown(card: dict[str, Any]) -> str:
    """The whole card, Markdown."""
    name = card["name"]
    pieces = [
        f"# `zoo:{name}`",
        _what(card),
        "## How it was trained",
        _training(card),
        "## Results",
        _results(card),
        *(["## How it bids", _bidding(card)] if card.get("bidding") else []),
        "## Known weaknesses",
        "\n".join(f"- {line}" for line in weaknesses(card)),
        "## Files",
        f"`{name}.safetensors`: {card['bytes']:,} bytes, float16, SHA-256 `{card['sha256']}`. Made by `python -m training zoo {name}` from "
        f"`{name}.json`, this card too; versions: " + ", ".join(f"{what} {number}" for what, number in card["versions"].items()) + ".",
    ]
    return "\n\n".join(pieces) + "\n"


def overview(cards: Sequence[dict[str, Any]]) -> str:
    """A table of agents, each for one game: what went into them, and how they do."""
    rows = []
    for card in cards:
        found = {(match["player"], match["against"]): match for match in card["matches"]}
        own = {against: match for (player, against), match in found.items() if player == f"zoo:{card['name']}"}
        gap, over = found.get(("heuristic", "random")), own.get("heuristic")
        share = f"{over['margin'] / gap['margin']:.1%} of {gap['margin']:.2f}" if over and gap else ""
        others = (against for against in own if against not in ("random", "heuristic"))
        searching = [f"`{against}` {_figure(own[against], 'margin', 'half_width')}" for against in others]
        training = card["training"]
        rows.append(
            [
                f"`zoo:{card['name']}`", f"{training['deals'] / 1e6:.2f}", f"{training['cpu_seconds'] / 60:.0f}",
                _figure(over or {}, "margin", "half_width"), share, ", ".join(searching),
            ]
        )  # fmt: skip
    head = ["agent", "million deals", "CPU-minutes", "over `heuristic`", "of `heuristic` over `random`", "over players that search"]
    return _table(head, rows)


def by_game(card: dict[str, Any]) -> str:
    """A table of an agent for any rules: how it does in every game that it was measured in."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for match in card["matches"]:
        if match["player"] == f"zoo:{card['name']}" and isinstance(match["rules"], str):
            found.setdefault(match["rules"], {})[match["against"]] = match
    rows = [
        [f"`{game}`", *(_figure(of.get(against, {}), "margin", "half_width") for against in ("random", "heuristic", f"zoo:{game}"))]
        for game, of in found.items()
    ]
    return _table(["game", "over `random`", "over `heuristic`", "over the game's own agent"], rows)


def game_of(rules: str | dict[str, Any]) -> str:
    """Rules in a word or two."""
    return f"`{rules}`" if isinstance(rules, str) else "house rules"


def _what(card: dict[str, Any]) -> str:
    networks = card["networks"]
    if networks["any_rules"]:
        games = f"any rules for up to {networks['slots']} players"
    else:
        games = game_of(networks["rules"]) if isinstance(networks["rules"], str) else f"house rules {shown(networks['rules'])}"
    sizes = " and ".join(f"{part} {' × '.join(map(str, hidden)) or 'linear'}" for part, hidden in networks["hidden"].items())
    suits = "suits in canonical order" if networks["canonical_suits"] else "suits as they are"
    reads = f"observation layout {networks['layout']}, {networks['slots']} slots, {suits}"
    return (
        f"Plays {games}. Two networks, hidden layers: {sizes}; {reads}. "
        f'`agents.load("zoo:{card["name"]}")` does what they hold likeliest, `sampled:zoo:{card["name"]}` draws from their probabilities.'
    )


def _training(card: dict[str, Any]) -> str:
    training = card["training"]
    commits = ", ".join(f"`{commit}`" for commit in training["commits"]) or "not recorded"
    lines = [
        f"{training['iterations']:,} iterations, {training['deals']:,} deals, {training['decisions']:,} decisions, "
        f"{training['cpu_seconds'] / 60:.1f} CPU-minutes. Commit: {commits}.",
    ]
    if training["curve"]:
        players = [key.removeprefix("eval/vs_") for key in training["curve"][-1] if key.startswith("eval/vs_") and "half_width" not in key]
        rows = []
        for row in training["curve"]:
            figures = [_figure(row, f"eval/vs_{player}", f"eval/vs_{player}_half_width") for player in players]
            rows.append([f"{row['deals']:,}", f"{row['cpu_seconds'] / 60:.1f}", *figures])
        lines.append("The end of its curve:\n\n" + _table(["deals", "CPU-minutes", *(f"over {player}" for player in players)], rows))
    changed = {key: value for key, value in training["config"].items() if not isinstance(value, dict) or value}
    lines.append("Configuration: " + "; ".join(f"{key} = {_setting(value)}" for key, value in changed.items()) + ".")
    return "\n\n".join(lines)


def _setting(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_setting(inner)}" for key, inner in value.items()) + "}"
    return f'"{value}"' if isinstance(value, str) else str(value)


def _results(card: dict[str, Any]) -> str:
    rows = []
    for match in card["matches"]:
        figure = _figure(match, "margin", "half_width")
        rows.append(
            [game_of(match["rules"]), f"`{match['player']}`", f"`{match['against']}`", figure, f"{match['deals']:,} × {match['plays']}"]
        )
    said = "Points a deal on duplicate deals, every deal in every seating, 95 % intervals (Student's t)"
    seeds = ", ".join(str(seed) for seed in sorted({match["seed"] for match in card["matches"]}))
    return f"{said}, seed {seeds}.\n\n" + _table(["game", "player", "over", "points a deal", "deals × seatings"], rows)


def _bidding(card: dict[str, Any]) -> str:
    rows = [
        [f"`{player}`", f"{f['pitches']:.1%}", f"{f['level']:.2f}", f"{f['made']:.1%}", f"{f['pitching']:+.2f}", f"{f['defending']:+.2f}"]
        for player, f in card["bidding"].items()
    ]
    head = ["player", "a side pitches", "mean bid", "bids made", "points where it pitches", "points where it does not"]
    return "Against each other, a side and a deal:\n\n" + _table(head, rows)


def weaknesses(card: dict[str, Any]) -> list[str]:
    """What is known to be wrong with an agent: what its figures say, then the notes of who packed it."""
    found = []
    for match in card["matches"]:
        against, margin, width = match["against"], match["margin"], match["half_width"]
        figure = f"{margin:+.3f} ± {width:.3f} in {game_of(match['rules'])}"
        searches_itself = match["player"] != f"zoo:{card['name']}"
        if searches_itself and card["name"] in against and margin - width > 0:
            found.append(f"It leaves points on the table: `{match['player']}` gains {figure} over it.")
        elif not searches_itself and margin + width < 0:
            found.append(f"It loses to `{against}`: {figure}.")
        elif not searches_itself and margin - width <= 0:
            found.append(f"It is not shown to be ahead of `{against}`: {figure}.")
        if not searches_itself and match["illegal"]:
            found.append(f"It proposed {match['illegal']} illegal actions against `{against}`.")
    if exploited := card["exploited"]:
        trained = f"{exploited['exploiters']} exploiters of `{exploited['agent']}`, {exploited['cpu_minutes']:.1f} CPU-minutes each"
        gain = f"{exploited['gain']:+.3f} ± {exploited['half_width']:.3f} points a deal on {exploited['deals']:,} deals"
        found.append(f"Of {trained}, the best gains {gain} (`best-response`).")
    config = card["training"]["config"]
    if config["opponent"]:
        share = f"{config['opponent_share']:.0%} of its deals were against `{config['opponent']}`"
        found.append(f"{share}: its figure over that player says less than others of how it does against those whom it has not met.")
    if not card["networks"]["any_rules"]:
        found.append("It plays these rules only, and refuses others.")
    if config["start_scores"] == "zero":
        found.append("It does not know the score of a match: it learned from deals that all started from 0.")
    if not card["exploited"]:
        found.append("How far it can be exploited is not measured; always doing the likeliest, it can be predicted.")
    return found + list(card["notes"])


def _figure(row: dict[str, Any], mean: str, width: str) -> str:
    return f"{row[mean]:+.3f} ± {row[width]:.3f}" if mean in row else ""


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
