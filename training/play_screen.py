"""What a person at the table sees: drawn from the `VIEW` of their seat and nothing else, so that it can't show what they may not know."""

from typing import TYPE_CHECKING, Any, Final

from rich.console import Console
from rich.text import Text

from pitchenv import Rules
from pitchenv.actions import BID_0, DONE, PASS, TRUMP_0, action_name
from pitchenv.cards import CARDS
from pitchenv.engine.state import AUCTION, DISCARD, ENDED, NOBODY, PLAY, REDRAW, THROWN_IN, TRUMP
from training.play_input import Menu
from training.play_page import Page
from training.play_points import View, pips_of, points_of

if TYPE_CHECKING:  # it brings torch
    from training.analysis import Decision

WIDTH: Final = 78  # of the rules between deals
PROMPTS: Final = {AUCTION: "Your bid", TRUMP: "Your trump", REDRAW: "Put away (0: done)", DISCARD: "Put away", PLAY: "Your card"}
HELP: Final = """\
Type a card (AS; the ten is TS or 10S), or the number before it, or a short form
that can mean one thing only: k for the only king you may play, h for the only
heart. In the auction: a number, or pass (or 0). For trump: a suit.

  ? or hint    what another player would do here
  log          the auction and the tricks of this deal
  help         this
  quit         leave the table; a match that is recorded is kept
  Enter        the table again

In the tricks > is who leads and * who wins; ? is your turn."""


class Screen(Page):
    """The table in lines that follow each other, for one seat."""

    def __init__(self, console: Console, rules: Rules, seat: int) -> None:
        super().__init__(console, rules, seat)
        self._shown = 0  # actions of this deal
        self._drawn = 0  # cards, as a mask
        self._phase = AUCTION

    def begin(self, view: View) -> None:
        """A deal has been dealt."""
        self._shown, self._drawn, self._phase = 0, 0, AUCTION
        public = view["public"]
        dealer = "you deal" if public["dealer"] == self.me else f"{self.names[public['dealer']]} deals"
        few = self.rules.sides <= 3
        title = f"Deal {public['deals_played'] + 1} · {dealer} · {self.scores_text(view) if few else f'first to {self.rules.target}'} "
        self.say()
        self.say("── ", (title, "bold"), "─" * max(3, WIDTH - 3 - len(title)))
        if not few and public["deals_played"]:
            self.line("Scores", self.scores_text(view))

    def show(self, view: View) -> None:
        """All that has happened since the last call."""
        public = view["public"]
        for at in range(self._shown, int(public["moves"])):
            self._event(view, at)
        self._shown, self._phase = int(public["moves"]), int(public["phase"])
        new = int(view["drawn"]) & ~self._drawn
        self._drawn |= new
        if new:
            self.say("You draw ", self.cards(view, new))
        if public["phase"] == ENDED:
            self._result(view)

    def _event(self, view: View, at: int) -> None:
        public = view["public"]
        seat, action, phase = int(public["history_seats"][at]), int(view["history"][at]), int(public["phase"])
        name, mine = self.names[seat], seat == self.me
        if self._phase == AUCTION and phase != AUCTION:
            self._auction(view)
        elif self._phase == TRUMP and not mine:
            self.say(f"{name} names ", self.suit(action - TRUMP_0), " trump")
        elif action == DONE and not mine:
            self.say(f"{name} exchanges {_count(public['redrawn'][seat])}")
        elif self._phase == DISCARD and not mine and (public["turn"] != seat or phase != DISCARD):
            self.say(f"{name} puts {_count(public['discarded'][seat])} away")
        elif self._phase == PLAY:
            nth = at - int(public["first_lead_at"])
            if nth == 0 and self.rules.trump == "pitched":
                self.say(self.suit(int(public["trump"])), " is trump" if mine else f" is trump: {name} leads it")
            if nth % self.rules.players == self.rules.players - 1:
                self._trick(view, nth // self.rules.players)

    def _auction(self, view: View) -> None:
        """The auction is over."""
        public = view["public"]
        self.say()
        self.heads()
        self._calls(view)
        if public["phase"] == ENDED:
            return
        pitcher = int(public["pitcher"])
        widow = f", and take{'' if pitcher == self.me else 's'} {_count(self.rules.widow)} from the widow" if self.rules.widow else ""
        self.say(f"{self.names[pitcher]} pitch{'' if pitcher == self.me else 'es'} for {public['bid']}{widow}", style="bold")

    def _calls(self, view: View) -> None:
        """A row for each round of the auction."""
        public, players = view["public"], self.rules.players
        moves = int(public["moves"])
        rounds: list[dict[int, str | Text]] = [{}]
        last = -1
        for seat, action in zip(public["history_seats"][:moves].tolist(), view["history"].tolist(), strict=False):
            if not PASS <= action < TRUMP_0:
                break
            turn = (seat - int(public["dealer"]) - 1) % players
            if turn <= last:
                rounds.append({})
            last = turn
            rounds[-1][seat] = Text("pass", "dim") if action == PASS else Text(action_name(action), "bold")
        if public["phase"] == AUCTION:
            if (self.me - int(public["dealer"]) - 1) % players <= last:
                rounds.append({})
            rounds[-1][self.me] = "?"
        for number, calls in enumerate(rounds):
            self.by_seat("" if number else "Auction", calls)

    def _trick(self, view: View, number: int) -> None:
        """A trick, whole or as it lies on the table."""
        public, players = view["public"], self.rules.players
        first = int(public["first_lead_at"]) + number * players
        end = min(first + players, int(public["moves"]))
        seats, cards = public["history_seats"][first:end].tolist(), view["history"][first:end].tolist()
        done = number < public["tricks_done"]
        cells: dict[int, str | Text] = {}
        if not done and public["turn"] == self.me:
            cells[self.me] = "?"
        winner = self._winner(view, end) if done else int(public["winning"])
        for place, (seat, card) in enumerate(zip(seats, cards, strict=True)):
            cells[seat] = Text.assemble("" if place else ">", self.card(card), "*" if seat == winner else "")
        self.by_seat(f"Trick {number + 1}", cells)

    def _winner(self, view: View, end: int) -> int:
        """Who won the trick that ends there: who leads to the next."""
        public = view["public"]
        return int(public["history_seats"][end] if end < public["moves"] else public["leader"])

    # The person's turn

    def turn(self, view: View, menu: Menu) -> None:
        """Before the person is asked: the table, their hand, what they may do."""
        public, rules = view["public"], self.rules
        phase = int(public["phase"])
        self.say()
        if phase in (AUCTION, PLAY):
            self.heads()
        if phase == AUCTION:
            self._calls(view)
        if phase == PLAY:
            self._trick(view, int(public["tricks_done"]))
        if phase in (REDRAW, DISCARD, PLAY):
            self._contract(view)
        self.line("Hand", self.cards(view, int(view["hand"]), menu))
        calls = [action for action in menu.values() if action >= CARDS]
        if phase in (AUCTION, TRUMP):
            named = [self._trump_choice(menu, a) if phase == TRUMP else Text(self._call(view, a)) for a in calls]
            self.line("You may", Text(", ").join(named))
        elif phase == REDRAW:
            left = rules.redraw - int(public["redrawn"][self.me])
            self.line("You may", f"exchange {_count(left)} more, or be done" if left else "be done")
        elif phase == DISCARD:
            self.line("You must", f"put {_count(int(public['held'][self.me]) - rules.tricks)} away")

    @property
    def prompt(self) -> str:
        """What the person is asked for."""
        return f"{PROMPTS[self._phase]}> "

    def _call(self, view: View, action: int) -> str:
        steals = action - BID_0 == view["public"]["bid"] and action != PASS
        return action_name(action) + " (as high; you take it)" * bool(steals)

    def _trump_choice(self, menu: Menu, action: int) -> Text:
        number = next(number for number, chosen in menu.items() if chosen == action)
        return Text.assemble((f"{number}:", "dim"), self.suit(action - TRUMP_0))

    def _contract(self, view: View) -> None:
        public = view["public"]
        pitcher = "you" if public["pitcher"] == self.me else self.names[public["pitcher"]]
        trump = "not named yet" if self.rules.trump == "declared" else "the suit led first"
        shown = public["tricks_done"] and self.rules.game == "pips" and self.rules.sides <= 3
        self.line(
            "Trump", trump if public["trump"] == NOBODY else self.suit(int(public["trump"])),
            f"; bid of {public['bid']} by {pitcher}", f"; pips: {self.each_side(pips_of(view))}" if shown else "",
        )  # fmt: skip

    def hint(self, name: str, decision: "Decision") -> None:
        """What an agent would do, with its chances and expectations where it states them."""
        assert decision.choice is not None
        chances = dict(decision.chances or {})
        sure = f" ({chances.pop(decision.choice):.0%})" if chances else ""
        others = sorted(((chance, action) for action, chance in chances.items() if chance >= 0.005), reverse=True)
        rest = Text(", ").join(Text.assemble(self.action(action), f" {chance:.0%}") for chance, action in others)
        self.line("Hint", f"{name} would choose ", self.action(decision.choice), sure, "; else " if rest else "", rest)
        if decision.agent_values:
            values = sorted(((value, action) for action, value in decision.agent_values.items()), reverse=True)
            worth = Text(", ").join(Text.assemble(self.action(action), f" {round(value, 2) + 0.0:+.2f}") for value, action in values)
            self.line("", "it expects, in points: ", worth)

    def history(self, view: View) -> None:
        """The auction and the tricks of this deal so far."""
        public = view["public"]
        self.heads()
        self._calls(view)
        if public["phase"] == AUCTION:
            return
        self._contract(view)
        if public["first_lead_at"]:
            for number in range(int(public["tricks_done"]) + (public["phase"] == PLAY)):
                self._trick(view, number)
        if view["put_away"]:
            self.line("Put away", self.cards(view, int(view["put_away"])))

    # Results

    def _result(self, view: View) -> None:
        """Who won which point, and the scores."""
        public, order = view["public"], self.side_order
        if public["scored"] == THROWN_IN:
            self.say("Everybody has passed: the cards are thrown in, nothing is scored", style="bold")
            return
        pitchers = self.rules.side(int(public["pitcher"]))
        made = public["points"][pitchers] >= public["bid"]
        self.say()
        self.by_side("", [self.sides[side] for side in order])
        for point in points_of(view):
            label = Text(f"{point.name} ")
            if point.card is not None and point.card < 52:
                label.append_text(self.card(point.card))
            won = [str(point.worth) if side == point.side else "" for side in order]
            self.by_side(label, [Text("nobody", "dim")] if point.side is None else won)
        if self.rules.game == "pips":
            pips = pips_of(view)
            self.by_side("Pips", [Text(str(pips[side]), "dim") for side in order])
        self.by_side("Points", [Text(str(public["points"][side]), "bold") for side in order])
        self.by_side(f"Bid of {public['bid']}", [("made" if made else "not made") if side == pitchers else "" for side in order])
        self.by_side("Change", [f"{public['change'][side]:+d}" for side in order])
        self.by_side("Score", [Text(str(public["scores"][side]), "bold") for side in order])
        if public["over"]:
            winner = self.sides[public["winner"]]
            self.say()
            verb = "win" if self.rules.sides < self.rules.players or public["winner"] == self.me else "wins"
            self.say(f"{winner} {verb} the match: {self.scores_text(view)}", style="bold")


def _count(cards: Any) -> str:
    return f"{cards} card{'' if cards == 1 else 's'}" if cards else "no cards"
