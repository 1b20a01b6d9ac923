"""Which bytes are there is known exactly, in whatever order they came."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as some

from engine.pulling.meter import Meter
from engine.pulling.spans import Spans, pieces

SIZE = 40
SPAN = some.tuples(some.integers(0, SIZE), some.integers(0, SIZE))


@given(some.lists(SPAN, max_size=12))
def test_spans_hold_what_was_added_and_gaps_are_the_rest(added: list[tuple[int, int]]) -> None:
    spans = Spans(added)
    there = {byte for start, end in added for byte in range(start, end)}
    assert len(spans) == len(there)
    assert {byte for start, end in spans.gaps(SIZE) for byte in range(start, end)} == set(range(SIZE)) - there
    ends = [edge for span in spans for edge in span]
    assert ends == sorted(set(ends))


@given(some.lists(SPAN, max_size=12), some.integers(1, SIZE))
def test_pieces_are_the_gaps_and_none_is_too_long(added: list[tuple[int, int]], length: int) -> None:
    gaps = Spans(added).gaps(SIZE)
    cut = pieces(gaps, length)
    assert [byte for start, end in cut for byte in range(start, end)] == [
        byte for start, end in gaps for byte in range(start, end)
    ]
    assert all(0 < end - start <= length for start, end in cut)


def test_the_speed_is_that_of_the_last_seconds() -> None:
    now = 0.0
    meter = Meter(5, lambda: now)
    assert (meter.rate(), meter.left(100)) == (0, None)
    for second in range(10):
        now = float(second)
        meter.add(100 if second < 5 else 10)
    assert meter.rate() == (100 + 5 * 10) / 5  # seconds 4 to 9
    assert meter.left(300) == 10
    now = 60.0
    assert meter.left(100) is None
