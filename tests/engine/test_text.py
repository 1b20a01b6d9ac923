"""Streamed text comes in whole characters and never holds a stop string."""

from __future__ import annotations

import pytest

from engine.text import TextStream


@pytest.mark.parametrize("text", ["ñandú", "👨‍👩‍👧‍👦", "漢字", "a\0b"])
def test_a_character_split_over_tokens_comes_whole(text: str) -> None:
    stream = TextStream()
    pieces = [stream.feed(bytes([byte])) for byte in text.encode()]
    assert "".join(pieces) + stream.finish() == text
    assert "\ufffd" not in "".join(pieces)


def test_half_a_character_at_the_end_is_shown_as_unreadable() -> None:
    stream = TextStream()
    assert stream.feed("é".encode()[:1]) == ""
    assert stream.finish() == "\ufffd"


@pytest.mark.parametrize("size", [1, 2, 3, 50])
def test_nothing_from_a_stop_string_on_is_given_out(size: int) -> None:
    stream, given = TextStream(("END", "\nUser:")), ""
    content = b"one EN two\nUse three END four"
    for start in range(0, len(content), size):
        given += stream.feed(content[start : start + size])
    assert given + stream.finish() == "one EN two\nUse three "
    assert stream.stopped


def test_text_that_only_looked_like_a_stop_string_comes_at_the_end() -> None:
    stream = TextStream(("STOP",))
    assert stream.feed(b"say STO") == "say "
    assert stream.finish() == "STO"
