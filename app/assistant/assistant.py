"""One turn after another: stores the question, gathers what it rests on, has the engine answer, stores the answer.

Headless: the command and the interface draw the events that come out of here. Whoever stops listening (``aclose``,
or cancelling the task) stops the answer, which is kept as ``stopped``.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import replace
from functools import partial

from app.assistant.answer_store import AnswerStore
from app.assistant.errors import NotAnAnswer, QuestionEmpty, QuestionTooBig
from app.assistant.events import Event, Failed, Started
from app.assistant.private import familys, own_adapter
from app.assistant.prompting import exchanges
from app.assistant.turn import Turn
from app.assistant.turn_parts import TurnParts
from app.catalogue import Catalogue
from configs.errors import EnlaceError
from configs.settings import Settings
from engine.answers import Sampling
from engine.interface import Engine
from memory.chats import ChatMessage
from memory.errors import LessonUnknown
from memory.household import Household
from memory.lessons import Lesson
from memory.members import Member
from memory.visibility import Visibility
from tools.registry import Registry, ToolContext

_BYTES_PER_KB = 1000


class Assistant:
    """Talks with one member of a household."""

    def __init__(
        self,
        household: Household,
        member: Member,
        engine: Engine,
        tools: Registry,
        settings: Settings,
        language: str,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._household = household
        self._member = member
        self._memory = household.member(member.id)
        self._settings = settings
        catalogue = Catalogue(language)
        context = ToolContext(household.home, settings.tools, catalogue, clock, settings.assistant.time_zone)
        private = partial(own_adapter, household, member.id)
        self._parts = TurnParts(self._memory, member, engine, tools, context, settings, catalogue, private)

    async def ask(
        self,
        text: str,
        *,
        conversation_id: str | None = None,
        parent_id: str | None = None,
        memory: bool = True,
        sampling: Sampling | None = None,
    ) -> AsyncGenerator[Event, None]:
        """Ask ``text`` at the end of a conversation (a new one by default), or after the message ``parent_id``.

        Ends with Done or Failed; other errors than EnlaceError are raised, with the answer kept as failed.
        """
        chats = self._memory.chats
        try:
            self._check(text)
            conversation = chats.get(conversation_id) if conversation_id else chats.start()
            if parent_id is None and conversation_id:
                path = chats.path(conversation.id)
                parent_id = path[-1].id if path else None
            question = chats.question(conversation.id, text, parent_id)
        except EnlaceError as error:
            yield Failed(error, None)
            return
        async with aclosing(self._answer(question, memory, sampling)) as events:
            async for event in events:
                yield event

    async def edit(
        self, question_id: str, text: str, *, memory: bool = True, sampling: Sampling | None = None
    ) -> AsyncGenerator[Event, None]:
        """Ask ``text`` in the place of an earlier question: a new branch beside it."""
        try:
            self._check(text)
            old = self._memory.chats.message(question_id)
            question = self._memory.chats.question(old.conversation_id, text, old.parent_id)
        except EnlaceError as error:
            yield Failed(error, None)
            return
        async with aclosing(self._answer(question, memory, sampling)) as events:
            async for event in events:
                yield event

    async def retry(
        self, question_id: str, *, memory: bool = True, sampling: Sampling | None = None
    ) -> AsyncGenerator[Event, None]:
        """Another answer to a question that was asked before, beside the earlier ones.

        Without ``sampling`` it is drawn at ``assistant.retry_temperature``: the likeliest would come out the same.
        """
        try:
            question = self._memory.chats.message(question_id)
        except EnlaceError as error:
            yield Failed(error, None)
            return
        if sampling is None:
            sampling = replace(self._default_sampling(), temperature=self._settings.assistant.retry_temperature)
        async with aclosing(self._answer(question, memory, sampling)) as events:
            async for event in events:
                yield event

    def correct(self, answer_id: str, chosen: str, *, shared: bool) -> Lesson:
        """Keep what an answer should have been: a lesson, and the newest answer of its question.

        Raises NotAnAnswer, LessonEmpty, LessonUnchanged and LessonTooLong; then nothing has changed.
        """
        chats = self._memory.chats
        answer, question, before = self._answered(answer_id)
        lesson = self._memory.lessons.add(
            self._in_context(question, before),
            chosen,
            answer.content,
            visibility="shared" if shared else "private",
            source="edit",
            snapshot=familys(answer.snapshot),
        )
        corrected = chats.begin_answer(question.id, answer.snapshot)
        chats.finish_answer(corrected.id, chosen, "complete", {"corrects": answer.id, "lesson": lesson.id})
        return lesson

    def rate(self, answer_id: str, rating: int) -> ChatMessage:
        """A thumb up (1), down (-1) or none (0). Raises NotAnAnswer and MessageUnknown."""
        answer, question, before = self._answered(answer_id)
        lessons = self._memory.lessons
        thumb_id = f"thumb-{answer.id}"
        if rating:
            lessons.add(
                self._in_context(question, before),
                answer.content if rating > 0 else "",
                "" if rating > 0 else answer.content,
                visibility=self._visibility(thumb_id),
                source="thumb",
                snapshot=familys(answer.snapshot),
                lesson_id=thumb_id,
            )
        elif answer.rating:
            lessons.withdraw(thumb_id)
        return self._memory.chats.rate(answer_id, rating)

    async def _answer(
        self, question: ChatMessage, memory: bool, sampling: Sampling | None
    ) -> AsyncGenerator[Event, None]:
        chats = self._memory.chats
        try:
            snapshot = self._household.snapshots.current().id
            history = exchanges(self._before(question))
            answer = chats.begin_answer(question.id, snapshot)
        except EnlaceError as error:
            yield Failed(error, None)
            return
        store = AnswerStore(chats, answer.id, self._settings.assistant.store_every_s)
        turn = Turn(self._parts, question, history, store, sampling or self._default_sampling(), memory=memory)
        try:
            yield Started(question.conversation_id, question.id, answer.id, snapshot)
            async with aclosing(turn.events()) as events:
                async for event in events:
                    yield event
        except EnlaceError as error:
            store.finish("failed", {"error": {"code": error.code, "facts": error.facts}})
            yield Failed(error, answer.id)
        except Exception:
            store.finish("failed", {"error": {"code": "unexpected", "facts": {}}})
            raise
        finally:
            # Reached unfinished only when nobody listens any more: stopped, or the task was cancelled.
            store.finish("stopped", {})

    def _before(self, question: ChatMessage) -> list[ChatMessage]:
        """The messages from the root to the one before ``question``."""
        if question.parent_id is None:
            return []
        path = self._memory.chats.path(question.conversation_id, question.id)
        ids = [message.id for message in path]
        return path[: ids.index(question.id)]

    def _answered(self, answer_id: str) -> tuple[ChatMessage, ChatMessage, list[ChatMessage]]:
        """An answer, its question and what came before."""
        answer = self._memory.chats.message(answer_id)
        if answer.role != "assistant" or answer.parent_id is None:
            raise NotAnAnswer(id=answer_id)
        question = self._memory.chats.message(answer.parent_id)
        return answer, question, self._before(question)

    def _visibility(self, lesson_id: str) -> Visibility:
        """Where a lesson is now; private where it is not there yet."""
        try:
            return self._memory.lessons.get(lesson_id).visibility
        except LessonUnknown:
            return "private"

    def _in_context(self, question: ChatMessage, before: list[ChatMessage]) -> list[dict[str, str]]:
        """A question as a lesson keeps it, after the last of what was said before it."""
        kept = before[max(0, len(before) - self._settings.assistant.lesson_context_messages) :]
        return [{"role": message.role, "content": message.content} for message in [*kept, question]]

    def _check(self, text: str) -> None:
        if not text.replace("\0", "").strip():
            raise QuestionEmpty
        size, longest = len(text.encode(errors="replace")), self._settings.assistant.longest_question_bytes
        if size > longest:
            raise QuestionTooBig(size_kb=size // _BYTES_PER_KB, longest_kb=longest // _BYTES_PER_KB)

    def _default_sampling(self) -> Sampling:
        return Sampling.defaults(self._settings.engine.sampling)
