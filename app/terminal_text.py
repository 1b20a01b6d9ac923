"""The one place where text on its way to a terminal is made harmless.

Answers, web pages, titles and what people paste may carry control sequences: to move the cursor, retitle the
window, write the clipboard (OSC 52), disguise a link (OSC 8) or reverse the reading order. Everything that is
drawn goes through here first. Sequences are recognised as ECMA-48 and xterm define them.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import Final

# ESC, and the C1 characters that open a sequence by themselves: DCS, SOS, CSI, OSC, PM, APC.
_OPENERS: Final = re.compile("[\x1b\x90\x98\x9b\x9d\x9e\x9f]")
_STRING_ENDS: Final = re.compile("[\x07\x9c\x18\x1a\x1b\n]")
_PARAMETERS: Final = re.compile("[0-?]*[ -/]*")
_INTERMEDIATES: Final = re.compile("[ -/]*")
_LINE_ENDS: Final = re.compile("\r\n?|[\u2028\u2029]")
# C0 without tab and newline, DEL, C1, embeddings and overrides, isolates. Marks (LRM, RLM) and joiners (ZWJ) stay.
_FORBIDDEN: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_SURROGATES: Final = re.compile("[\ud800-\udfff]")


class _State(Enum):
    TEXT = auto()
    ESCAPE = auto()
    INTERMEDIATE = auto()
    PARAMETERS = auto()
    STRING = auto()


class StreamCleaner:
    """Cleans text that arrives in pieces: the pieces' results joined are what ``clean`` makes of the whole."""

    def __init__(self) -> None:
        self._state = _State.TEXT
        self._carriage_return = False

    def feed(self, chunk: str) -> str:
        """What may be drawn of ``chunk``; a sequence that it opens is still dropped in the next one."""
        if self._carriage_return:
            chunk = "\r" + chunk
            self._carriage_return = False
        if chunk.endswith("\r"):
            # Half of a line end, perhaps: wait for what follows.
            self._carriage_return = True
            chunk = chunk[:-1]
        kept: list[str] = []
        position = 0
        while position < len(chunk):
            position = self._step(chunk, position, kept)
        return "".join(kept)

    def flush(self) -> str:
        """The end of the text: what was held back, and ready for another text. An open sequence is dropped."""
        held = "\n" if self._carriage_return else ""
        self._state = _State.TEXT
        self._carriage_return = False
        return held

    def _step(self, chunk: str, position: int, kept: list[str]) -> int:
        """Consume from ``position`` as far as one state goes; returns the new position."""
        match self._state:
            case _State.TEXT:
                return self._text(chunk, position, kept)
            case _State.ESCAPE:
                return self._escape(chunk, position)
            case _State.INTERMEDIATE:
                return self._until_final(chunk, position, _INTERMEDIATES, "0")
            case _State.PARAMETERS:
                return self._until_final(chunk, position, _PARAMETERS, "@")
            case _State.STRING:
                return self._string(chunk, position)

    def _text(self, chunk: str, position: int, kept: list[str]) -> int:
        opener = _OPENERS.search(chunk, position)
        end = opener.start() if opener else len(chunk)
        if end > position:
            text = _LINE_ENDS.sub("\n", chunk[position:end])
            kept.append(_SURROGATES.sub("\ufffd", _FORBIDDEN.sub("", text)))
        if opener is None:
            return end
        match opener.group():
            case "\x1b":
                self._state = _State.ESCAPE
            case "\x9b":
                self._state = _State.PARAMETERS
            case _:
                self._state = _State.STRING
        return end + 1

    def _escape(self, chunk: str, position: int) -> int:
        character = chunk[position]
        if character == "\x1b":
            return position + 1
        if character == "[":
            self._state = _State.PARAMETERS
        elif character in "]PX^_":
            self._state = _State.STRING
        elif " " <= character <= "/":
            self._state = _State.INTERMEDIATE
        else:
            self._state = _State.TEXT
            # A character that ends no escape sequence is text that happens to follow a stray ESC.
            return position + 1 if "0" <= character <= "~" else position
        return position + 1

    def _until_final(self, chunk: str, position: int, middle: re.Pattern[str], first_final: str) -> int:
        matched = middle.match(chunk, position)
        end = matched.end() if matched else position
        if end == len(chunk):
            return end
        self._state = _State.TEXT
        return end + 1 if first_final <= chunk[end] <= "~" else end

    def _string(self, chunk: str, position: int) -> int:
        ended = _STRING_ENDS.search(chunk, position)
        if ended is None:
            return len(chunk)
        match ended.group():
            case "\x1b":
                # ESC \ closes the string; any other sequence after ESC takes its place.
                self._state = _State.ESCAPE
            case "\n":
                # A string is never longer than its line, so that one stray ESC cannot swallow an answer.
                self._state = _State.TEXT
                return ended.start()
            case _:
                self._state = _State.TEXT
        return ended.end()


def clean(text: str) -> str:
    """``text`` without anything that a terminal would obey. Newlines, tabs, emoji and right-to-left text stay."""
    cleaner = StreamCleaner()
    return cleaner.feed(text) + cleaner.flush()
