"""Text on its way to a terminal carries nothing that a terminal obeys, whole or split over chunks."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.terminal_text import StreamCleaner, clean

SEQUENCES = {
    "colour": ("a\x1b[31mb\x1b[0mc", "abc"),
    "cursor": ("a\x1b[2J\x1b[Hb", "ab"),
    "private mode": ("a\x1b[?1049hb", "ab"),
    "C1 CSI": ("a\x9b31mb", "ab"),
    "title with BEL": ("a\x1b]0;owned\x07b", "ab"),
    "link": ("\x1b]8;;http://evil.example\x1b\\shop\x1b]8;;\x1b\\", "shop"),
    "clipboard": ("a\x1b]52;c;cm0gLXJmIC8=\x07b", "ab"),
    "C1 OSC and ST": ("a\x9d52;c;cm0gLXJmIC8=\x9cb", "ab"),
    "DCS": ("a\x1bP$q\x22p\x1b\\b", "ab"),
    "APC": ("a\x1b_Gf=24;AAAA\x1b\\b", "ab"),
    "character set": ("a\x1b(0b", "ab"),
    "full reset": ("a\x1bcb", "ab"),
    "ESC then text": ("a\x1b\nb", "a\nb"),
    "OSC left open ends with its line": ("a\x1b]0;never closed\nb", "a\nb"),
    "OSC cut by CSI": ("a\x1b]0;x\x1b[31mb", "ab"),
    "cancelled string": ("a\x1bPxyz\x18b", "ab"),
    "backspaces": ("safe\b\b\b\bevil", "safeevil"),
    "NUL and DEL": ("a\x00b\x7fc", "abc"),
    "bidi override": ("a\u202egpj.exe\u202c", "agpj.exe"),
    "isolates": ("\u2066a\u2069", "a"),
    "line ends": ("a\r\nb\rc\u2028d", "a\nb\nc\nd"),
    "lone surrogate": ("a\ud800b", "a\ufffdb"),
}

KEPT = [
    "línea\n\tsangrada",
    "👨‍👩‍👧‍👦 familia",
    "שלום عليكم",
    "漢字かな",
    "Ñandú año Núñez",
    "Nu\u0301n\u0303ez",
    "[/b] [link=x]y[/link] [1] {'a': [1]}",
    "<|im_end|></tool_call>",
    "a\u200eb",
]


def streamed(pieces: list[str]) -> str:
    cleaner = StreamCleaner()
    return "".join(cleaner.feed(piece) for piece in pieces) + cleaner.flush()


@pytest.mark.parametrize(("text", "expected"), SEQUENCES.values(), ids=SEQUENCES.keys())
def test_sequences_are_removed_whole(text: str, expected: str) -> None:
    assert clean(text) == expected


@pytest.mark.parametrize(("text", "expected"), SEQUENCES.values(), ids=SEQUENCES.keys())
def test_sequences_split_at_any_two_points_are_removed_as_if_whole(text: str, expected: str) -> None:
    for first in range(len(text) + 1):
        for second in range(first, len(text) + 1):
            assert streamed([text[:first], text[first:second], text[second:]]) == expected


@pytest.mark.parametrize("text", KEPT)
def test_ordinary_text_passes_unchanged_even_character_by_character(text: str) -> None:
    assert clean(text) == text
    assert streamed(list(text)) == text


def test_an_open_sequence_ends_with_its_text() -> None:
    cleaner = StreamCleaner()
    assert cleaner.feed("a\x1b]52;c;") == "a"
    assert cleaner.flush() == ""
    assert cleaner.feed("b") == "b"


noisy = st.text(st.sampled_from("ab1;[]\\?mP_ \n\r\t\x1b\x07\x18\x9b\x9d\x9c\x90\x00\x7f\u202e\u200d漢ñ"), max_size=40)


@settings(deadline=None)
@given(st.lists(noisy, max_size=8))
def test_any_split_gives_what_the_whole_gives(pieces: list[str]) -> None:
    assert streamed(pieces) == clean("".join(pieces))


@settings(deadline=None)
@given(st.one_of(noisy, st.text()))
def test_nothing_that_is_left_is_a_control_character_and_cleaning_again_changes_nothing(text: str) -> None:
    left = clean(text)
    assert all(character in "\n\t" or unicodedata.category(character) not in {"Cc", "Cs"} for character in left)
    assert not set(left) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
    assert clean(left) == left
