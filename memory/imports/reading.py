"""What stands in an export, conversation by conversation: whose form it is, is told by each of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from configs.errors import Fact
from memory.imports import chatgpt, claude, open_webui, own
from memory.imports.elements import Element, as_utf8, elements
from memory.imports.own import Whole
from memory.imports.sources import Part
from memory.imports.told import Told, Wrong

_FORMS: Final[tuple[tuple[Callable[[Mapping[str, Any]], bool], Callable[[Mapping[str, Any]], Told]], ...]] = (
    (chatgpt.recognises, chatgpt.read),
    (claude.recognises, claude.read),
    (open_webui.recognises, open_webui.read),
)
_MEGABYTE: Final = 1_000_000
# Bytes so far, and of how many.
Tell = Callable[[int, int], object]


@dataclass(frozen=True)
class BadEntry:
    """An entry that is no conversation. ``file`` and ``number``, from 1, say where it stands; ``at``: bytes before it.

    ``reason``: cut_off, too_large, not_object, not_utf8, not_json, unrecognised, missing or wrong_type; ``facts`` say
    more. ``raw``: the entry itself, or as much of it as is ever looked at.
    """

    file: str
    number: int
    at: int
    reason: str
    facts: Mapping[str, Fact]
    raw: bytes


Entry = Told | Whole | BadEntry


def entries(parts: Sequence[Part], entry_megabytes: int, tell: Tell) -> Iterator[Entry]:
    """Every conversation in ``parts``, and every entry that is none. Raises what reading them raises."""
    size = sum(part.size for part in parts)
    before = 0
    for part in parts:
        done = before

        def counted(blocks: Iterator[bytes]) -> Iterator[bytes]:
            nonlocal done
            for block in blocks:
                done += len(block)
                tell(min(done, size), size)
                yield block

        number = 0
        try:
            for element in elements(as_utf8(counted(part.blocks())), entry_megabytes * _MEGABYTE):
                number = element.number
                yield _entry(part.name, element)
        except UnicodeDecodeError as error:
            yield BadEntry(part.name, number + 1, done, "not_utf8", {"column": error.start + 1}, b"")
        before += part.size


def _entry(file: str, element: Element) -> Entry:
    try:
        if element.problem:
            raise Wrong(element.problem)
        return _read(element.raw)
    except Wrong as wrong:
        return BadEntry(file, element.number, element.at, wrong.reason, wrong.facts, element.raw)


def _read(raw: bytes) -> Told | Whole:
    """Raises Wrong."""
    try:
        entry = json.loads(raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise Wrong("not_utf8", column=error.start + 1) from error
    except json.JSONDecodeError as error:
        raise Wrong("not_json", column=error.pos + 1) from error
    except (ValueError, RecursionError) as error:
        # A number of more digits than Python reads, or brackets in brackets without end.
        raise Wrong("not_json", column=1) from error
    if not isinstance(entry, dict):
        raise Wrong("not_object")
    if own.recognises(entry):
        return own.read(entry)
    for recognises, read in _FORMS:
        if recognises(entry):
            return read(entry)
    raise Wrong("unrecognised")
