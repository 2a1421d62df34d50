"""One decision from one view, and the loop over a batch of them."""

from pitchenv.actions import ACTIONS, PASS, TRUMP_0
from pitchenv.engine.kernel import kernel
from pitchenv.engine.state import AUCTION, NOBODY, PLAY, TRUMP
from pitchenv.engine.suits import suit_cards
from pitchenv.policies.heuristic.bidding import best_suit, choose_call
from pitchenv.policies.heuristic.exchange import choose_card_away
from pitchenv.policies.heuristic.parameters import FOUR_POINTS, MORE_POINTS
from pitchenv.policies.heuristic.situation import assess
from pitchenv.policies.heuristic.tricks import choose_card


@kernel
def decide(v, cards, calls, w, s):
    """The action of the seat that looks; `cards` and `calls` are the legal ones as masks, `s` a SITUATION to work in."""
    p = v.public
    if p.phase == AUCTION:
        return choose_call(v, calls, w, s)
    trump = p.trump
    if trump == NOBODY:
        trump, _ = best_suit(v, w, s)
        if p.phase == TRUMP:
            return TRUMP_0 + trump
        if p.phase == PLAY:  # the suit of this lead is trump
            cards &= suit_cards(0, NOBODY, trump)
    assess(v, trump, w, s)
    if p.phase == PLAY:
        return choose_card(v, s, cards, w)
    return choose_card_away(v, s, cards, w)


@kernel
def decide_all(views, mask, parameters, scratch, actions):
    """Write to `actions` (n,) what each of `views` (n,) does. `scratch` is an array of one SITUATION."""
    for i in range(len(views)):
        v = views[i]
        cards = 0
        for action in range(PASS):
            cards |= mask[i, action] << action
        calls = 0
        for action in range(PASS, ACTIONS):
            calls |= mask[i, action] << (action - PASS)
        if cards == 0 and calls == 0:
            actions[i] = PASS  # nothing to decide
            continue
        more = v.public.rules.max_bid > 4
        actions[i] = decide(v, cards, calls, parameters[MORE_POINTS if more else FOUR_POINTS], scratch[0])
