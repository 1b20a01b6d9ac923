"""The single objects of a large JSON file, one after the other, so that no more than one of them is ever in memory.

A file is one array of objects, one object, or an object on each line. Between the quotes and brackets that tell where
one ends, everything is passed over as fast as memory is searched.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

_BLOCK: Final = 1 << 20
_SIGN: Final = re.compile(rb'["{}\[\]]')
_BETWEEN: Final = re.compile(rb"[\s,]*+")
_QUOTE, _BACKSLASH, _ARRAY, _ARRAY_END = b'"', ord("\\"), b"[", b"]"
_OPENING: Final = b"{["


@dataclass(frozen=True)
class Element:
    """One object as it stands in the file. ``number`` counts from 1; ``at``: bytes before it, as UTF-8.

    ``problem``: empty, ``cut_off`` where the file ends inside it, ``too_large`` (then ``raw`` is only its beginning),
    or ``not_object``.
    """

    number: int
    at: int
    raw: bytes
    problem: str = ""


def as_utf8(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """The same text in UTF-8 and without a mark of its order of bytes, also where it was written in UTF-16.

    Raises UnicodeDecodeError for half a UTF-16 character.
    """
    source = iter(blocks)
    first = next(source, b"")
    while len(first) < len(codecs.BOM_UTF8) and (more := next(source, b"")):
        first += more
    if first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        decoder = codecs.getincrementaldecoder("utf-16")()
        for block in (first, *source):
            yield decoder.decode(block).encode("utf-8", errors="surrogatepass")
        yield decoder.decode(b"", final=True).encode("utf-8", errors="surrogatepass")
        return
    yield first.removeprefix(codecs.BOM_UTF8)
    yield from source


def elements(blocks: Iterable[bytes], most_bytes: int) -> Iterator[Element]:
    """The objects of a file whose content is ``blocks``, each of ``most_bytes`` at most."""
    text = _Text(blocks)
    text.skip(_BETWEEN)
    if text.at_end():
        return
    if text.peek() == _ARRAY:
        text.step()
        yield from _of_array(text, most_bytes)
    elif _on_lines(text):
        yield from _on_each_line(text, most_bytes)
    else:
        yield from _one_after_the_other(text, most_bytes, 1)


def _of_array(text: _Text, most: int) -> Iterator[Element]:
    number, problem = 0, ""
    for element in _one_after_the_other(text, most, 1):
        number, problem = element.number, element.problem
        yield element
    if problem != "cut_off" and text.at_end():
        # Nothing is missing that could be seen, but the array does not end: whoever wrote the file did not finish.
        yield Element(number + 1, text.read, b"", "cut_off")


def _one_after_the_other(text: _Text, most: int, number: int) -> Iterator[Element]:
    while True:
        text.skip(_BETWEEN)
        if text.at_end() or text.peek() == _ARRAY_END:
            return
        at = text.read
        if text.peek() not in (_OPENING[:1], _OPENING[1:]):
            yield Element(number, at, text.until(re.compile(rb"[^,\]{\s]++"), most), "not_object")
        else:
            yield _balanced(text, at, most, number)
        number += 1


def _balanced(text: _Text, at: int, most: int, number: int) -> Element:
    """From an opening bracket to the one that closes it."""
    kept, depth, in_string = bytearray(), 0, False
    while not text.at_end():
        place = text.place
        if in_string:
            end, closed = _string_end(text.buffer, place)
            in_string = not closed
            if in_string and end < len(text.buffer):
                # A backslash, the last byte at hand: what it stands before is in the next block.
                kept += text.buffer[place:end]
                text.move_to(end)
                if text.more():
                    continue
                place, end = end, len(text.buffer)
        else:
            met = _SIGN.search(text.buffer, place)
            end = met.end() if met else len(text.buffer)
            if met:
                sign = met[0]
                in_string = sign == _QUOTE
                depth += 0 if in_string else 1 if sign in _OPENING else -1
        if len(kept) <= most:
            kept += text.buffer[place:end]
        text.move_to(end)
        if not depth:
            return Element(number, at, bytes(kept[:most]), "too_large" if len(kept) > most else "")
    return Element(number, at, bytes(kept[:most]), "cut_off")


def _string_end(buffer: bytes, place: int) -> tuple[int, bool]:
    """The place after the quote that ends the string inside of which ``place`` is, and that it is one.

    Where none is at hand: the end, or the place of the backslash there that stands before something still to come.
    """
    at = place
    while True:
        quote = buffer.find(_QUOTE, at)
        end = len(buffer) if quote < 0 else quote
        before = end
        while before > place and buffer[before - 1] == _BACKSLASH:
            before -= 1
        escapes = (end - before) % 2 == 1
        if quote < 0:
            return end - escapes, False
        if not escapes:
            return quote + 1, True
        at = quote + 1


def _on_lines(text: _Text) -> bool:
    """Whether the first line is an object by itself; a file that is laid out for people begins with a bracket alone."""
    while b"\n" not in text.buffer and len(text.buffer) < _BLOCK and text.more():
        pass
    line, end, _ = text.buffer[text.place :].partition(b"\n")
    return bool(line.rstrip().endswith(b"}") and len(line.rstrip()) > 1) or (not end and len(line) >= _BLOCK)


def _on_each_line(text: _Text, most: int) -> Iterator[Element]:
    """A line that is broken costs that line alone."""
    line_end, number = re.compile(rb"[^\n]*+"), 0
    while not text.at_end():
        at = text.read
        raw = text.until(line_end, most + 1)
        if not text.at_end():
            text.step()
        if raw.strip():
            number += 1
            problem = "too_large" if len(raw) > most else "" if raw.lstrip()[:1] == b"{" else "not_object"
            yield Element(number, at, raw[:most], problem)


class _Text:
    """Blocks of bytes as one text that is walked along. ``buffer[place:]`` is what is at hand; ``read`` lies before."""

    def __init__(self, blocks: Iterable[bytes]) -> None:
        self._blocks = iter(blocks)
        self.buffer = b""
        self.place = 0
        self.read = 0

    def more(self) -> bool:
        """Have another block at hand; False where there is none."""
        block = next((block for block in self._blocks if block), None)
        if block is None:
            return False
        self.buffer, self.place = self.buffer[self.place :] + block, 0
        return True

    def at_end(self) -> bool:
        return self.place >= len(self.buffer) and not self.more()

    def peek(self) -> bytes:
        return self.buffer[self.place : self.place + 1]

    def step(self) -> None:
        self.move_to(self.place + 1)

    def move_to(self, place: int) -> None:
        """``place`` counts in the buffer as it was when this one's ``place`` was looked at last."""
        self.read += place - self.place
        self.place = place

    def skip(self, what: re.Pattern[bytes]) -> None:
        self.until(what, 0)

    def until(self, what: re.Pattern[bytes], most: int) -> bytes:
        """Walk along as long as ``what`` matches; the first ``most`` bytes of it."""
        kept = bytearray()
        while not self.at_end():
            found = what.match(self.buffer, self.place)
            end = found.end() if found else self.place
            kept += self.buffer[self.place : min(end, self.place + max(0, most - len(kept)))]
            self.move_to(end)
            if end < len(self.buffer):
                break
        return bytes(kept)
