"""What happens between a stored question and its finished answer."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from app.assistant.answer_store import AnswerStore
from app.assistant.asking import Accepted
from app.assistant.events import Done, Event, Queued, Recalled, Sources, Thinking, Token, ToolCalled, ToolReturned
from app.assistant.faithful import CitationFilter, says_the_result, with_citation
from app.assistant.from_documents import from_documents
from app.assistant.grounding import Grounding
from app.assistant.listening import Listening
from app.assistant.prompting import Exchange, Material
from app.assistant.reminding import Reminding, remind
from app.assistant.said import TaughtEnd
from app.assistant.turn_parts import TurnParts, accepted, measures
from app.errors_text import explain
from configs.errors import EnlaceError
from configs.sections.assistant import Form
from engine.answers import Delta, Finished, Sampling, Thought, Usage, Waiting
from engine.ending import Until
from memory.chats import ChatMessage
from memory.extraction.asked import asked_to_remember
from tools.errors import ToolError
from tools.registry import Source, ToolResult
from tools.routing import Call, route


class Turn:
    """One question on its way to one answer."""

    def __init__(
        self,
        parts: TurnParts,
        question: ChatMessage,
        history: tuple[Exchange, ...],
        store: AnswerStore,
        sampling: Sampling,
        *,
        memory: bool,
    ) -> None:
        self._parts = parts
        self._question = question
        self._store = store
        self._sampling = sampling
        self._use_memory = memory
        self._material = Material(parts.system_prompt(), question.content, history)
        self._usage: Usage | None = None
        self._meta: dict[str, Any] = {}
        self._fact_score = 0.0
        self._thinking = False
        self._listening: Listening

    async def events(self) -> AsyncGenerator[Event, None]:
        """Everything after Started, Done included. Raises EnlaceError."""
        steps = self._steps()
        # After what comes to mind was looked for: an answer must not depend on which of the two was faster.
        self._listening = Listening(self._parts.memory.hearing, self._question)
        try:
            async with aclosing(steps) as events:
                async for event in events:
                    yield event
        finally:
            await self._listening.end()

    def _steps(self) -> AsyncGenerator[Event, None]:
        text = self._question.content
        if asked_to_remember(text) is not None:
            return self._remember()
        search = self._parts.settings.tools.search.enabled
        call = route(text, self._parts.catalogue.language, search)
        recalled = self._recall()
        if call is None or (call.name == "web_search" and not call.asked):
            told = from_documents(self._parts, text) if recalled is None and self._use_memory else None
            if told is not None:
                return self._say(told.text, told.sources)
        if call is None or (recalled is not None and call.name == "web_search" and not call.asked):
            return self._from_model(recalled)
        return self._from_tool(call)

    async def _remember(self) -> AsyncGenerator[Event, None]:
        asked = (await self._listening.heard()).asked
        sentence = self._parts.catalogue.text("assistant.remembered", fact=asked.text if asked else "")
        async with aclosing(self._say(sentence)) as events:
            async for event in events:
                yield event

    def _recall(self) -> Recalled | None:
        if not self._use_memory:
            return None
        found = self._parts.memory.recall.find(self._question.content, self._parts.member)
        # An answer that is asked for again is not reminded of what its own question says.
        facts = [entry for entry in found.facts if entry.fact.source != self._question.id]
        if not found.lessons and not facts:
            return None
        self._fact_score = facts[0].score if facts else 0.0
        return Recalled(found.lessons, tuple(entry.fact for entry in facts))

    async def _from_model(self, recalled: Recalled | None) -> AsyncGenerator[Event, None]:
        parts = self._parts
        reminding = remind(self._material, recalled, self._fact_score, parts.settings.assistant, parts.catalogue)
        self._meta = dict(reminding.meta)
        steps = self._stream(reminding.first, reminding.used)
        if reminding.grounded is not None:
            steps = self._grounded(reminding, reminding.grounded)
        async with aclosing(steps) as events:
            async for event in events:
                yield event
        for told in await self._listening.told(self._meta):
            yield told
        lessons, facts = (len(reminding.meta[name]) for name in ("lessons", "facts"))
        yield self._done(self._store.text, lessons_used=lessons, facts_used=facts)

    async def _asked(
        self,
        material: Material,
        sampling: Sampling,
        form: Form = "line",
        *,
        briefly: bool = False,
        until: Until | None = None,
    ) -> AsyncGenerator[Accepted | Queued | Thinking | Delta | Finished, None]:
        """What the engine says to ``material``; that it thinks is said once."""
        asked = self._parts.asker.ask(material, sampling, self._cache_key(), form, briefly=briefly, until=until)
        async with aclosing(asked) as pieces:
            async for piece in pieces:
                if isinstance(piece, Waiting):
                    yield Queued(piece.place)
                elif not isinstance(piece, Thought):
                    yield piece
                elif not self._thinking:
                    self._thinking = True
                    yield Thinking()

    async def _stream(self, material: Material, recalled: Recalled | None) -> AsyncGenerator[Event, None]:
        """The model's answer, token by token, kept as it comes."""
        form = self._parts.settings.assistant.recalled_forms[0]
        async with aclosing(self._asked(material, self._sampling, form)) as pieces:
            async for piece in pieces:
                match piece:
                    case Accepted(left_out):
                        for event in accepted(left_out, recalled):
                            yield event
                    case Queued() | Thinking():
                        yield piece
                    case Delta(text):
                        self._store.add(text)
                        yield Token(text)
                    case Finished():
                        self._finished(piece)

    async def _grounded(self, reminding: Reminding, grounding: Grounding) -> AsyncGenerator[Event, None]:
        """The model's answer once it says what was recalled; the family's own words if it never does."""
        own_words = reminding.own_words
        settings = self._parts.settings.assistant
        for attempt, (form, material) in enumerate(reminding.attempts):
            held, shown = "", False
            until = TaughtEnd(own_words, grounding) if reminding.whole else None
            async with aclosing(self._asked(material, self._sampling, form, until=until)) as pieces:
                async for piece in pieces:
                    match piece:
                        case Accepted(left_out) if attempt == 0:
                            for event in accepted(left_out, reminding.used):
                                yield event
                        case Queued() | Thinking():
                            yield piece
                        case Delta(text):
                            held += text
                            shown = shown or grounding.holds(held, ended=False)
                            if shown:
                                self._store.add(held)
                                yield Token(held)
                                held = ""
                            elif len(held) > settings.ungrounded_characters:
                                break
                        case Finished():
                            self._finished(piece)
                            if not shown and grounding.holds(held):
                                shown = True
                                self._store.add(held)
                                yield Token(held)
            self._meta["written_by"], self._meta["attempts"] = "model", attempt + 1
            if shown:
                return
        self._meta["written_by"] = "memory"
        self._store.add(own_words)
        yield Token(own_words)

    async def _from_tool(self, call: Call) -> AsyncGenerator[Event, None]:
        yield ToolCalled(call.name, call.arguments)
        self._meta = {"tool": call.name, "arguments": call.arguments}
        result, error = await self._run(call)
        yield ToolReturned(call.name, result.text if result else "", result.sources if result else (), error)
        if result is None:
            failure = explain(error or ToolError(), self._parts.catalogue)
            steps = self._say(str(failure))
        elif result.sources:
            steps = self._cite(result, call)
        else:
            steps = self._tell(result)
        async with aclosing(steps) as events:
            async for event in events:
                yield event

    async def _run(self, call: Call) -> tuple[ToolResult | None, EnlaceError | None]:
        try:
            return await self._parts.tools.call(call.name, call.arguments, self._parts.context), None
        except ToolError as error:
            return None, error

    async def _tell(self, result: ToolResult) -> AsyncGenerator[Event, None]:
        """A sum or the time: the model's sentence if it says what the tool found, else the tool's own."""
        settings = self._parts.settings.assistant
        material = replace(self._material, history=(), tool_text=result.text)
        sampling = replace(self._sampling, max_tokens=min(self._sampling.max_tokens, settings.tool_answer_tokens))
        written = ""
        async with aclosing(self._asked(material, sampling, briefly=True)) as pieces:
            async for piece in pieces:
                if isinstance(piece, Queued | Thinking):
                    yield piece
                elif isinstance(piece, Delta):
                    written += piece.text
                elif isinstance(piece, Finished):
                    self._finished(piece)
        faithful = says_the_result(written, self._question.content, result, settings.tool_answer_overlap)
        self._meta |= {"written_by": "model" if faithful else "tool"}
        async with aclosing(self._say(written.strip() if faithful else result.text)) as events:
            async for event in events:
                yield event

    async def _cite(self, result: ToolResult, call: Call) -> AsyncGenerator[Event, None]:
        """Pages: the model answers from the excerpts and cites them by number."""
        question = self._parts.catalogue.text("assistant.from_excerpts", query=call.arguments["query"])
        material = replace(self._material, history=(), question=question, tool_text=result.text)
        checked = CitationFilter(result.sources)
        async with aclosing(self._asked(material, self._sampling)) as pieces:
            async for piece in pieces:
                if isinstance(piece, Queued | Thinking):
                    yield piece
                elif isinstance(piece, Delta):
                    shown = checked.feed(piece.text)
                    self._store.add(shown)
                    if shown:
                        yield Token(shown)
                elif isinstance(piece, Finished):
                    self._finished(piece)
        self._store.add(checked.flush())
        written = self._store.text
        cited = with_citation(written, result.sources, result.text.splitlines())
        if len(cited) > len(written.rstrip()):
            yield Token(cited[len(written.rstrip()) :])
        async with aclosing(self._end(cited, result.sources)) as events:
            async for event in events:
                yield event

    async def _say(self, sentence: str, sources: tuple[Source, ...] = ()) -> AsyncGenerator[Event, None]:
        """An answer that is there all at once."""
        self._store.add(sentence)
        yield Token(sentence)
        async with aclosing(self._end(sentence, sources)) as events:
            async for event in events:
                yield event

    async def _end(self, text: str, sources: tuple[Source, ...]) -> AsyncGenerator[Event, None]:
        """What follows on the last word of an answer that rests on ``sources``, if on any."""
        if sources:
            yield Sources(sources)
            self._meta["sources"] = [{"number": s.number, "title": s.title, "url": s.url} for s in sources]
        for told in await self._listening.told(self._meta):
            yield told
        yield replace(self._done(text), sources=sources)

    def _finished(self, piece: Finished) -> None:
        self._usage = piece.usage
        self._meta["ended"] = piece.reason

    def _done(self, text: str, *, lessons_used: int = 0, facts_used: int = 0) -> Done:
        usage = self._usage
        self._meta |= measures(usage)
        self._store.finish("complete", self._meta, text=text, snapshot=usage.snapshot if usage else None)
        return Done(self._store.answer_id, text, usage, lessons_used, "complete", facts_used)

    def _cache_key(self) -> str:
        return f"{self._parts.member.id}/{self._question.conversation_id}"
