"""Whole deals worked out by hand, card by card: the reference and the engine must both play them so."""

from dataclasses import dataclass

import pytest

import pitchenv
from tests.reference import ACTIONS, ReferenceMatch
from tests.rules.table import seats


@dataclass(frozen=True)
class Deal:
    """A line of the transcript is a seat and its actions, which it takes one after another."""

    game: str
    dealer: int
    hands: str
    stock: str
    transcript: str
    points: list[int]
    scores: list[int]


# The pitcher breaks diamonds alone. His discards are worth 2 pips, his side's tricks 14 + 7 + 3 + 15, the others'
# 15 + 8; the five cards left over are worth 16. High, Low of the pack, Jack and Game are side 0's.
SMEAR = Deal(
    game="smear",
    dealer=3,
    hands="AS KS 7S 8H 9H QD | JS TS 9D TD 7C 8C | QS 9S KH JH 7H AD | 8S AH TH KD JD AC",
    stock="7D 8D QH 9C TC JC QC KC",
    transcript="""
        0: bid 3
        1: pass
        2: pass
        3: pass
        0: 7D, 8D, QD
        0: AS
        1: TS
        2: 9S
        3: 8S
        0: KS
        1: JS
        2: QS
        3: JD
        0: 9H
        1: TD
        2: JH
        3: AH
        3: AC
        0: 8H
        1: 7C
        2: AD
        3: KD
        0: 7S
        1: 9D
        2: 7H
        0: QH
        1: 8C
        2: KH
        3: TH
    """,
    points=[4, 0],
    scores=[4, 0],
)

# Side 0's tricks are worth 14 + 3 + 9 + 17 pips and bring High, low joker and Game: three points, and five were bid.
# Side 1 has Low (the two it held), Jack, off-jack, high joker and the three.
OKLAHOMA = Deal(
    game="oklahoma-4",
    dealer=1,
    hands="""AS KS 3S JC 4H 5H 6D 7D 8C | QS HJ 2S AH KH 9D 8D 7C 6C
        | JS LJ TS AD KD QD AC KC 2H | 9S 8S TH 9H TD JD QC TC 5C""",
    stock="7S 6S 4S 5S QH JH 8H 7H 6H 3H 5D 4D 3D 2D 9C 4C 3C 2C",
    transcript="""
        2: bid 3
        3: pass
        0: bid 5
        1: pass
        2: pass
        0: trump S
        0: 4H, 5H, 6D, done
        1: 7C, 6C, done
        2: done
        3: 5C, 9H, TH, done
        0: 8C, 7D, 4S
        1: 8D, 9D, QH
        2: 2H, QD, KC
        3: 7H, 8H, JH
        0: AS
        1: 2S
        2: TS
        3: 8S
        0: KS
        1: 5S
        2: LJ
        3: 9S
        0: JC
        1: QS
        2: JS
        3: TD
        1: HJ
        2: KD
        3: QC
        0: 3S
        1: AH
        2: AD
        3: JD
        0: 7S
        0: 6S
        1: KH
        2: AC
        3: TC
    """,
    points=[3, 7],
    scores=[-5, 7],
)

# The dealer takes the maximum from seat 2 and fails by Low, which the nine catches in the last trick: the side that
# wins it has it. His side's 13 + 17 pips are Game over 14 + 13, his ace High, his jack brought home.
SETBACK = Deal(
    game="setback",
    dealer=3,
    hands="KH QH 3C 4C 5D 6D | TH 8S JH TD 7C 8C | KS QS AH 9S 5C 6C | AS JS 2S AC TC KC",
    stock="",
    transcript="""
        0: pass
        1: pass
        2: bid 4
        3: bid 4
        3: AS
        0: 5D
        1: 8S
        2: QS
        3: AC
        0: 3C
        1: 7C
        2: 5C
        3: KC
        0: 4C
        1: 8C
        2: 6C
        3: TC
        0: 6D
        1: JH
        2: KS
        2: AH
        3: JS
        0: QH
        1: TH
        3: 2S
        0: KH
        1: TD
        2: 9S
    """,
    points=[1, 3],
    scores=[1, -4],
)


def turns(deal: Deal) -> list[tuple[int, str]]:
    lines = [line.strip().split(": ") for line in deal.transcript.strip().splitlines()]
    return [(int(seat), action) for seat, actions in lines for action in actions.split(", ")]


@pytest.mark.parametrize("deal", [SMEAR, OKLAHOMA, SETBACK], ids=lambda deal: deal.game)
@pytest.mark.parametrize("make", [ReferenceMatch, pitchenv.Game.from_deal], ids=["reference", "engine"])
def test_whole_deal(make, deal):
    rules = pitchenv.load_rules(deal.game)
    match = make(rules, hands=seats(deal.hands), stock=deal.stock.split(), dealer=deal.dealer, scores=[0, 0])
    for seat, action in turns(deal):
        legal = [ACTIONS[a] if isinstance(a, int) else a for a in match.legal_actions()]
        assert match.seat == seat, (seat, action)
        assert action in legal, (seat, match.phase)
        match.apply(action)
    assert match.phase == "ended"
    assert (list(match.points), list(match.scores)) == (deal.points, deal.scores)
    assert (match.over, match.winner, match.deals_played) == (False, None, 1)
