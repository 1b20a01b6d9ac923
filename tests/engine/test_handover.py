"""Tokens of a quick answer are passed on a few at a time, and nothing is lost or comes late for good."""

from __future__ import annotations

import asyncio

from engine.answers import Finished, TokenLogprob, Usage, Waiting
from engine.errors import EngineStopping
from engine.handover import Handover
from engine.jobs import JobEvent, Written

END = Finished("stop", Usage(1, 0, 3, 1.0, 1.0, "v0", 2048))


async def passed(events: list[tuple[float, JobEvent]], interval_s: float) -> list[JobEvent]:
    """What is passed on of events that are reported at these times."""
    now, taken = 0.0, list[JobEvent]()
    handover = Handover(asyncio.get_running_loop(), taken.append, interval_s, lambda: now)
    for now, event in events:  # noqa: B007 - the clock reads it
        handover(event)
    await asyncio.sleep(0)
    return taken


def word(text: str) -> Written:
    return Written(text, "v0", (TokenLogprob(7, text, text.encode(), -1.0),))


async def test_the_first_words_go_at_once_and_later_ones_together() -> None:
    words = [(1 + 0.009 * place, word(text)) for place, text in enumerate("abcd")]
    first, a, bcd = await passed([(0.0, Waiting(1)), *words], 0.02)
    assert (first, a) == (Waiting(1), word("a"))
    assert isinstance(bcd, Written)
    assert bcd.text == "bcd"
    assert [worth.text for worth in bcd.logprobs] == ["b", "c", "d"]


async def test_an_end_takes_along_what_is_held() -> None:
    for end in (END, EngineStopping()):
        events: list[tuple[float, JobEvent]] = [(0.0, word("a")), (0.001, word("b")), (0.002, word("c")), (0.003, end)]
        first, held, last = await passed(events, 0.02)
        assert (first, last) == (word("a"), end)
        assert isinstance(held, Written)
        assert held.text == "bc"


async def test_slow_answers_and_no_interval_pass_every_token_on() -> None:
    slow: list[tuple[float, JobEvent]] = [(0.1 * place, word("a")) for place in range(5)]
    assert len(await passed(slow, 0.02)) == 5
    quick: list[tuple[float, JobEvent]] = [(0.001 * place, word("a")) for place in range(5)]
    assert len(await passed(quick, 0)) == 5
