"""Stored messages as entries of the transcript: title, marks, sources and the keys that work on them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from app.errors_text import explain
from app.interface.entries import Entry
from app.interface.markdown.lines import Look, Span
from app.interface.times import clock_time, day
from app.terminal_text import clean
from configs.errors import Reported

if TYPE_CHECKING:
    from app.catalogue import Catalogue
    from app.recalled_sources import RecalledSource
    from memory.chats import ChatMessage

_SEPARATOR = " · "
_ANSWER_HINTS = ("correct", "retry", "good", "bad", "copy")
_TOLD = 60  # characters of what was recalled, in a row under the answer
_QUESTION_HINTS = ("rephrase", "copy")


# Whom the lesson of a corrected answer is for: the house, its member, or the house once it is approved.
Taught = Literal["shared", "private", "waiting"]


class EntryMaker:
    """Makes entries in one language, and keeps them, so that a long answer is laid out once only."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._kept: dict[str, Entry] = {}

    def entry(self, message: ChatMessage, *, version: tuple[int, int] = (1, 1), taught: Taught = "private") -> Entry:
        """The entry of a message. ``version``: which of how many; ``taught``: whom a correction is for."""
        question = message.role == "user"
        text = clean(message.content)
        entry = self._kept.get(message.id)
        if entry is None or entry.text != text:
            entry = Entry(message.id, (), text=text, markdown=not question)
            self._kept[message.id] = entry
        entry.title = self._question_title() if question else self._answer_title(message)
        entry.aside = clock_time(message.created_at)
        entry.notes = tuple(self._notes(message, version, taught))
        entry.hints = self._hints(_QUESTION_HINTS if question else _ANSWER_HINTS)
        return entry

    def live(self, key: str, snapshot: str, created_at: float) -> Entry:
        """The entry of an answer that is only beginning."""
        entry = Entry(key, self.title(snapshot), clock_time(created_at))
        entry.notes = (self.dim(self._catalogue.text("screen.thinking")),)
        self._kept[key] = entry
        return entry

    def title(self, snapshot: str | None, *, lessons: int = 0, facts: int = 0, sources: int = 0) -> tuple[Span, ...]:
        """Who answers, with what: the snapshot and the counts that are not zero."""
        counts = {"lessons": lessons, "facts": facts, "sources": sources}
        parts = [snapshot or "", *(self._catalogue.count(f"screen.{k}", n) for k, n in counts.items() if n)]
        spans = [Span(self._catalogue.text("screen.assistant"), Look.STRONG | Look.ACCENT)]
        return (*spans, *(Span(_SEPARATOR + clean(part), Look.DIM) for part in parts if part))

    def source_notes(self, sources: Iterable[Mapping[str, Any]]) -> list[tuple[Span, ...]]:
        """One row for each source: number, title, address."""
        return [
            (
                Span(f"[{source['number']}] ", Look.ACCENT),
                Span(clean(str(source["title"])).replace("\n", " ")),
                Span(", " + clean(str(source["url"])).replace("\n", ""), Look.DIM),
            )
            for source in sources
        ]

    def recalled_notes(self, sources: Iterable[RecalledSource]) -> list[tuple[Span, ...]]:
        """One row for each thing that the answer was reminded of: who said it, when, and the beginning of it."""
        notes = []
        for source in sources:
            told = " ".join(clean(source.text).split())
            told = told if len(told) <= _TOLD else told[:_TOLD].rstrip() + "…"
            facts = {"name": clean(source.said_by), "when": day(source.said_at), "text": told}
            notes.append(self.dim(self._catalogue.text("screen.recalled.from", **facts)))
        return notes

    def warning(self, text: str) -> tuple[Span, ...]:
        """A note that something is not as it should be; the sign says so where colours do not."""
        return (Span("⚠ " + text, Look.WARNING),)

    def dim(self, text: str) -> tuple[Span, ...]:
        """A quiet note."""
        return (Span(text, Look.DIM),)

    def _question_title(self) -> tuple[Span, ...]:
        return (Span(self._catalogue.text("screen.you"), Look.STRONG | Look.MEMBER),)

    def _answer_title(self, message: ChatMessage) -> tuple[Span, ...]:
        meta = message.meta
        return self.title(
            message.snapshot,
            lessons=len(meta.get("lessons", ())),
            facts=len(meta.get("facts", ())),
            sources=len(meta.get("sources", ())),
        )

    def _notes(self, message: ChatMessage, version: tuple[int, int], taught: Taught) -> Iterable[tuple[Span, ...]]:
        text = self._catalogue.text
        yield from self.source_notes(message.meta.get("sources", ()))
        if "corrects" in message.meta:
            yield (Span(text(f"screen.correct.mark_{taught}"), Look.SUCCESS),)
        if message.state != "complete":
            key = {"partial": "saved_partial", "stopped": "stopped", "failed": "failed"}[message.state]
            failure = message.meta.get("error")
            reason = f": {self._failure(failure)}" if isinstance(failure, dict) else ""
            yield self.warning(text(f"screen.{key}") + reason)
        if message.rating:
            good = message.rating > 0
            yield (Span(text(f"screen.rated_{'good' if good else 'bad'}"), Look.SUCCESS if good else Look.WARNING),)
        if version[1] > 1:
            yield self.dim(text("screen.version", number=version[0], total=version[1]))

    def _failure(self, failure: Mapping[str, Any]) -> str:
        """Why an answer was not finished, as it was stored."""
        return str(explain(Reported(str(failure.get("code", "")), failure.get("facts") or {}), self._catalogue))

    def _hints(self, names: Iterable[str]) -> tuple[Span, ...]:
        spans: list[Span] = []
        for name in names:
            spans += [Span(_SEPARATOR, Look.DIM)] if spans else []
            spans.append(Span(self._catalogue.text(f"screen.hint.{name}"), Look.DIM, f"screen.{name}"))
        return tuple(spans)
