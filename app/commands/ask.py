"""``enlace ask``: one answer on stdout."""

from __future__ import annotations

import sys
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from app.commands.opening import open_session
from app.commands.output import complain, error_as_json, remark, write, write_json, write_raw
from app.terminal_text import StreamCleaner
from configs.errors import EnlaceError

if TYPE_CHECKING:
    from app.assistant.events import Done, Event, Failed, Remembered
    from app.session import Session
    from engine.answers import Sampling

# What may be over when another model answers. The other errors of a snapshot name the way back themselves.
_MODEL_ERRORS: Final = ("model_broken", "model_missing", "model_too_big", "engine_start_failed")


def register(commands: typer.Typer) -> None:
    """Add ``ask``."""
    commands.command("ask", help="command.ask.help")(ask)


def ask(
    text: Annotated[str, typer.Argument(help="command.ask.text")],
    member: Annotated[str | None, typer.Option(help="command.options.member")] = None,
    go_on: Annotated[bool, typer.Option("--continue", help="command.ask.continue")] = False,
    temperature: Annotated[float | None, typer.Option(min=0, max=5, help="command.ask.temperature")] = None,
    seed: Annotated[int | None, typer.Option(min=0, max=2**31 - 1, help="command.ask.seed")] = None,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="command.ask.max_tokens")] = None,
    no_memory: Annotated[bool, typer.Option("--no-memory", help="command.ask.no_memory")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="command.options.json")] = False,
) -> int:
    """Ask one question and write the answer as it comes."""
    if text == "-":
        text = sys.stdin.buffer.read().decode(errors="replace")
    with open_session(member=member) as session:
        # Whoever has a PIN gives it before anything is begun.
        _ = session.member
        starting = session.start_engine_early()
        # Imported while the engine starts.
        import asyncio

        from engine.answers import Sampling

        changes = {"temperature": temperature, "seed": seed, "max_tokens": max_tokens}
        sampling = Sampling.defaults(session.settings.engine.sampling)
        sampling = replace(sampling, **{name: value for name, value in changes.items() if value is not None})  # type: ignore[arg-type]
        answer = _Answer(session, as_json=as_json)
        if starting is not None:
            starting.join()
        return asyncio.run(answer.run(text, sampling, memory=not no_memory, go_on=go_on))


class _Answer:
    """Draws the events of one turn: the answer on stdout, what it rests on on stderr, or all of it as JSON."""

    def __init__(self, session: Session, *, as_json: bool) -> None:
        self._session = session
        self._json = as_json
        self._cleaner = StreamCleaner()
        self._conversation: str | None = None
        self._snapshot = ""
        self._wrote = False
        self._facts_kept: Remembered | None = None

    async def run(self, text: str, sampling: Sampling, *, memory: bool, go_on: bool) -> int:
        conversation_id = None
        if go_on:
            newest = self._session.memory.chats.list(1)
            conversation_id = newest[0].id if newest else None
        assistant = self._session.assistant()
        events = assistant.ask(text, conversation_id=conversation_id, memory=memory, sampling=sampling)
        code = 0
        async with aclosing(events):
            async for event in events:
                code = self._draw(event)
        return code

    def _draw(self, event: Event) -> int:
        from app.assistant import events

        match event:
            case events.Started():
                self._conversation, self._snapshot = event.conversation_id, event.snapshot
            case events.Token(text) if not self._json:
                self._wrote = True
                write_raw(self._cleaner.feed(text))
            case events.Trimmed(turns):
                self._remark("command.ask.trimmed", turns)
            case events.Recalled(lessons, facts):
                self._remark("command.ask.lessons_used", len(lessons))
                self._remark("command.ask.facts_used", len(facts))
            case events.Remembered():
                self._remembered(event)
            case events.Done():
                self._done(event)
            case events.Failed():
                return self._failed(event)
        return 0

    def _remark(self, key: str, number: int) -> None:
        if number and not self._json:
            remark(self._session.catalogue.count(key, number))

    def _remembered(self, remembered: Remembered) -> None:
        """What was kept of the question, and how it is taken back. Who asked for it is told by the answer."""
        from app.remembered import told

        self._facts_kept = remembered
        if self._json or remembered.asked or not self._session.settings.assistant.tell_remembered:
            return
        if self._wrote:
            write_raw("\n")
        for sentence in told(remembered, self._session.catalogue):
            remark(sentence)
        if remembered.facts:
            remark(self._session.catalogue.text("memory.undo_by_command"))

    def _done(self, done: Done) -> None:
        if self._json:
            write_json(self._facts(done))
            return
        write_raw(self._cleaner.flush() + "\n")
        for source in done.sources:
            write(f"[{source.number}] {source.title} — {source.url}")

    def _facts(self, done: Done) -> dict[str, Any]:
        usage, kept = done.usage, self._facts_kept
        return {
            "answer": done.text,
            "snapshot": usage.snapshot if usage else self._snapshot,
            "prompt_tokens": usage.prompt_tokens if usage else 0,
            "answer_tokens": usage.answer_tokens if usage else 0,
            "ttft_ms": round(usage.ttft_ms, 1) if usage else None,
            "tokens_per_second": round(usage.tokens_per_second, 1) if usage else None,
            "lessons_used": done.lessons_used,
            "facts_used": done.facts_used,
            "remembered": [{"id": fact.id, "text": fact.text} for fact in kept.facts] if kept else [],
            "fell": [{"id": fact.id, "text": fact.text} for fact in kept.fell] if kept else [],
            "sources": [{"number": s.number, "title": s.title, "url": s.url} for s in done.sources],
            "conversation": self._conversation,
            "state": done.state,
        }

    def _failed(self, failed: Failed) -> int:
        from app.errors_text import explain

        if self._wrote:
            write_raw(self._cleaner.flush() + "\n")
        explained = explain(failed.error, self._session.catalogue)
        following = f"{explained.next} {self._way_back(failed.error.code)}".strip()
        complain(explained.what, following)
        if self._json:
            error = error_as_json(failed.error.code, failed.error.facts, explained.what, following)
            write_json({"error": error, "conversation": self._conversation, "state": "failed"})
        return failed.error.exit_code

    def _way_back(self, code: str) -> str:
        """What to say of the snapshot before, where the current one's model is what keeps it from answering."""
        if code not in _MODEL_ERRORS:
            return ""
        try:
            before = self._session.household.snapshots.rollback_target()
            now = self._session.snapshot()
        except EnlaceError:
            return ""
        if before.base_sha256 == now.base_sha256:
            # It rests on the same file.
            return ""
        return self._session.catalogue.text("command.ask.way_back", model=before.base_name)
