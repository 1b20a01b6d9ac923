"""Server-sent events are read as the HTML standard says, wherever the pieces are cut."""

from __future__ import annotations

import pytest

from engine.sse import EventReader, EventTooLong

STREAM = (
    "\ufeff: a comment\r\n"
    "data: one\r\n\r\n"
    "event: message\ndata:two\ndata:  three\nid: 7\nretry: 10\n\n"
    "data\r\r"
    "data: ñandú 👨‍👩‍👧\n\n"
    "\n\n"
    "id: no data\n\n"
    "data: [DONE]\n\n"
    "data: cut off"
)  # fmt: skip
EVENTS = ["one", "two\n three", "", "ñandú 👨‍👩‍👧", "[DONE]"]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_events_are_the_same_however_their_bytes_arrive(size: int) -> None:
    content, reader = STREAM.encode(), EventReader(1000)
    found = [data for start in range(0, len(content), size) for data in reader.feed(content[start : start + size])]
    assert found == EVENTS


def test_bytes_that_are_no_text_are_shown_as_such_and_break_nothing() -> None:
    assert list(EventReader(100).feed(b"data: a\xffb\n\n")) == ["a\ufffdb"]


def test_an_event_without_an_end_is_not_read_for_ever() -> None:
    reader = EventReader(100)
    pieces = [b"data: 123456"] * 20
    with pytest.raises(EventTooLong):
        assert [data for piece in pieces for data in reader.feed(piece)]


def test_many_small_events_are_no_long_one() -> None:
    reader = EventReader(100)
    assert sum(len(list(reader.feed(b"data: 1234\n\n"))) for _ in range(100)) == 100
