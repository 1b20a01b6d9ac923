"""A conversation of ten turns: how soon its tenth answer begins, beside the peer and beside its own second."""

from __future__ import annotations

from functools import partial
from statistics import median

from benchmarks.engines import Connect, engine, peer_of
from benchmarks.measures import side_by_side
from benchmarks.peer_server import PEER
from benchmarks.plan import Plan
from benchmarks.rows import Row, row
from benchmarks.streaming import Streamed, converse, opened

TURNS = 10
# A question of about thirty tokens: the answers are most of what is said.
TURN = "Part {number}. Go on with the story of the lighthouse from where it ended, and let somebody new come in."
ANSWER_TOKENS = 260


def conversation(plan: Plan) -> list[Row]:
    """First token at the tenth turn of a conversation of about 3,000 tokens."""
    notes: list[str] = []

    def talk(reach: Connect, number: int) -> list[Streamed]:
        messages, said = opened(f"This is story {number * 7919 + 13}. " + TURN.format(number=1)), []
        for turn in range(1, TURNS + 1):
            said.append(converse(reach(), messages, ANSWER_TOKENS, key=f"story {number}"))
            messages += [
                {"role": "assistant", "content": said[-1].text},
                {"role": "user", "content": TURN.format(number=turn + 1)},
            ]
        return said

    rounds = plan.engine.talk_rounds
    with engine(plan.engine) as (home, ours), peer_of(plan.engine, home, 1, notes) as theirs:
        mine, other = side_by_side(partial(talk, ours), theirs and partial(talk, theirs), rounds)
    sizes = f"Prompt of {mine[0][-1].prompt_tokens} tokens at turn {TURNS}"
    sizes += f", of {other[0][-1].prompt_tokens} for the peer." if other else "."
    last = median(talked[-1].first_token_s for talked in mine)
    growth = median(talked[-1].first_token_s / talked[1].first_token_s for talked in mine)
    peers = median(talked[-1].first_token_s / talked[1].first_token_s for talked in other) if other else None
    return [
        row(
            f"first token, turn {TURNS}",
            last * 1000,
            "ms",
            peer=PEER,
            peer_value=median(talked[-1].first_token_s for talked in other) * 1000 if other else None,
            bound=1.0,
            samples=len(mine),
            note=" ".join([sizes, *notes]),
        ),
        row(
            f"first token, turn {TURNS} over turn 2",
            growth,
            "times",
            peer=PEER,
            peer_value=peers,
            bound=1.3,
            bound_on="value",
            samples=len(mine),
        ),
    ]
