"""Two snapshots asked the same: what each says where the family corrected an answer, and which one fits the correction.

They are asked for their weights alone, as the gate asks them: no lesson comes to mind, the likeliest word is taken.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from app.commands.errors import AlwaysAnswering
from engine.answers import Sampling
from engine.errors import PromptTooLong
from engine.giving_way import whole_answer
from engine.messages import Message
from memory.matching import says_the_same
from memory.wording import question_key

if TYPE_CHECKING:
    from app.session import Session
    from configs.settings import Settings
    from engine.interface import Engine
    from memory.lessons import Lesson
    from memory.snapshots import Snapshot

# Who asks: what was read for one of these questions is not looked for in anybody's conversation.
_KEY: Final = "compare/{snapshot}"


@dataclass(frozen=True)
class Compared:
    """What the two snapshots answered to a lesson's question, and whether that fits its correction."""

    lesson: Lesson
    answers: tuple[str, str]
    fits: tuple[bool, bool]


def corrections(session: Session) -> list[Lesson]:
    """Of each question the latest correction that the session's member may see, the newest first.

    That is the household's and the member's own: of nobody else's private lessons is there anything here.
    """
    latest: dict[str, Lesson] = {}
    for lesson in _by_age([*session.household.corrections(), *session.memory.private.corrections()]):
        latest[question_key(lesson.question)] = lesson
    return _by_age(latest.values())[::-1]


class Comparison:
    """Asks two snapshots beside what is served, which stays; while anybody else is answered, it waits.

    But not for ever: after ``assistant.compare_patience_s`` of waiting for one answer it gives up.
    """

    def __init__(
        self,
        engine: Engine,
        snapshots: tuple[Snapshot, Snapshot],
        settings: Settings,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._engine = engine
        self._snapshots = snapshots
        self._system_prompt = settings.assistant.system_prompt
        self._wait_s = settings.assistant.compare_wait_s
        self._patience_s = settings.assistant.compare_patience_s
        self._sampling = replace(
            Sampling.defaults(settings.engine.sampling),
            temperature=0,
            repeat_penalty=1,
            max_tokens=settings.training.evaluation.answer_tokens,
        )
        self._sleep = sleep

    async def of(self, lesson: Lesson) -> Compared | None:
        """Both answers to a lesson's question; None where it is longer than the model can read.

        Raises AlwaysAnswering, SnapshotApart, ServerOffersNot, and what ``Engine.chat`` raises.
        """
        given: Iterable[Mapping[str, Any]] = lesson.messages
        messages = [Message(each["role"], each["content"]) for each in given]
        if messages[0].role != "system":
            messages.insert(0, Message("system", self._system_prompt))
        try:
            first, second = [await self._answer(snapshot, messages) for snapshot in self._snapshots]
        except PromptTooLong:
            return None
        fits = (_fits(lesson, first), _fits(lesson, second))
        return Compared(lesson, (first, second), fits)

    async def _answer(self, snapshot: Snapshot, messages: list[Message]) -> str:
        loop = asyncio.get_running_loop()
        begun = loop.time()
        while (text := await self._undisturbed(snapshot, messages)) is None:
            if loop.time() - begun >= self._patience_s:
                raise AlwaysAnswering(seconds=round(self._patience_s))
            await self._sleep(self._wait_s)
        return text

    async def _undisturbed(self, snapshot: Snapshot, messages: list[Message]) -> str | None:
        """The whole answer; None where somebody else was to be answered meanwhile, or too many were."""
        key = _KEY.format(snapshot=snapshot.id)
        text = await whole_answer(self._engine, messages, self._sampling, cache_key=key, snapshot=snapshot.digest)
        return None if text is None else text.strip()


def _fits(lesson: Lesson, answer: str) -> bool:
    return says_the_same(answer, question=lesson.question, chosen=lesson.chosen, rejected=lesson.rejected)


def _by_age(lessons: Iterable[Lesson]) -> list[Lesson]:
    return sorted(lessons, key=lambda lesson: (lesson.created_at, lesson.id))
