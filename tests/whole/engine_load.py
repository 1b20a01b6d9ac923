"""What a household asks of its engine in an hour, and more: eight askers, some rude, two slow, and the plug pulled."""

from __future__ import annotations

import asyncio
import collections
import contextlib
import random
import time
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field

from configs.home import Home
from configs.sections.engine import EngineSettings
from engine.answers import Delta, Finished, Sampling
from engine.client import EngineClient
from engine.errors import EngineBusy, EngineDied, EngineError, EngineStartFailed, PromptTooLong
from engine.messages import Message

# An end that is told clearly; anything else is a fault of the engine's or of its client's.
CLEAR = (EngineDied, EngineBusy, EngineStartFailed)
# Nats between the likeliest token and one that rounding may put in its place.
NEARLY = 0.25
PIECES_BEFORE_LEAVING = 12
SLOWEST_S = 0.3
QUESTIONS = (
    "What is the capital of France?", "Tell me a story about the sea.", "How do I boil an egg?", "Who was Cervantes?",
    "Write a poem about winter.", "What is a volcano?", "Give me three names for a dog.", "Why is the sky blue?",
)  # fmt: skip
LONG = "Read this: " + "the sea was calm and the boat went slowly along the coast, " * 90 + "what was it about?"
TOO_LONG = "hola " * 20_000
# What comes so soon after a kill was sent before it: no engine starts in that time.
ON_ITS_WAY_S = 0.3


@dataclass
class Seen:
    """What came of all that was asked."""

    outcomes: collections.Counter[str] = field(default_factory=collections.Counter)
    faults: list[str] = field(default_factory=list)
    # Answers that are not word for word what was expected: question, text, snapshot where it is known.
    unlike: set[tuple[str, str, str | None]] = field(default_factory=set)
    restarts_s: list[float] = field(default_factory=list)
    killed_at: float = 0.0
    waiting_for_first: bool = False

    def first_piece(self) -> None:
        """Somebody has the first piece of an answer, also of one that was asked for before the engine was killed."""
        passed = time.monotonic() - self.killed_at
        if self.waiting_for_first and passed > ON_ITS_WAY_S:
            self.waiting_for_first = False
            self.restarts_s.append(passed)


@dataclass
class Load:
    """``expected``: for each question, what each snapshot says; ``current()`` is the digest of the one to be served."""

    home: Home
    settings: EngineSettings
    current: Callable[[], str]
    seen: Seen
    expected: dict[str, dict[str, str]] = field(default_factory=dict)
    ending: bool = False

    def sampling(self, most: int) -> Sampling:
        return Sampling(0, 40, 0.95, 0.0, 1.0, 64, most)

    async def ask_for_ever(self, number: int, chance: random.Random) -> None:
        """Be one asker until the end. The first two read slowly."""
        client = EngineClient(self.home, self.settings, self.current)
        while not self.ending:
            kind = chance.choices(("known", "long", "too long", "leave", "leave early"), (50, 12, 6, 22, 10))[0]
            try:
                await self.one(
                    client, kind, chance, slow=number < 2, key=f"asker {number}" if chance.random() < 0.7 else None
                )
            except CLEAR as error:
                self.seen.outcomes[f"{kind}: {error.code}"] += 1
            except EngineError as error:
                self.seen.faults.append(f"{kind}: {error}")
            await asyncio.sleep(chance.random() * 0.2)

    async def one(self, client: EngineClient, kind: str, chance: random.Random, *, slow: bool, key: str | None) -> None:
        """Ask once, to the end or away from it."""
        question = {"long": LONG, "too long": TOO_LONG}.get(kind) or chance.choice(QUESTIONS)
        most = 16 if kind == "long" else chance.choice((12, 40, 120))
        stream = client.chat(conversation(question), self.sampling(most), cache_key=key)
        leave_after = chance.randint(1, PIECES_BEFORE_LEAVING) if kind == "leave" else 1 << 30
        if kind == "leave early":
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(chance.random() * 0.3):
                    await self._read(stream, question, leave_after, chance, slow=slow)
            await stream.aclose()
            self.seen.outcomes[f"{kind}: left"] += 1
            return
        try:
            self.seen.outcomes[f"{kind}: {await self._read(stream, question, leave_after, chance, slow=slow)}"] += 1
        except PromptTooLong:
            if kind != "too long":
                raise
            self.seen.outcomes[f"{kind}: told"] += 1
        finally:
            await stream.aclose()

    async def _read(
        self,
        stream: AsyncGenerator[object, None],
        question: str,
        leave_after: int,
        chance: random.Random,
        *,
        slow: bool,
    ) -> str:
        """How it ended. The words of a whole answer, and of one left or broken off, are those of one snapshot."""
        text, pieces = "", 0
        try:
            async for piece in stream:
                if isinstance(piece, Delta):
                    if not pieces:
                        self.seen.first_piece()
                    text, pieces = text + piece.text, pieces + 1
                if isinstance(piece, Finished):
                    self._compare(question, text, piece.usage.snapshot)
                    return piece.reason
                if pieces >= leave_after:
                    self._compare(question, text, None)
                    return "left"
                if slow:
                    await asyncio.sleep(chance.random() * SLOWEST_S)
        except EngineDied:
            self._compare(question, text, None)
            raise
        return "no end"

    def _compare(self, question: str, text: str, snapshot: str | None) -> None:
        """Note an answer that is not, from its first word to its last, what one snapshot said in peace."""
        known = self.expected.get(question)
        if known is None or not text:
            return
        whole = [known[snapshot]] if snapshot else list(known.values())
        if not any(each.startswith(text) for each in whole):
            self.seen.unlike.add((question, text, snapshot))

    async def judge_unlike(self, digests: dict[str, str]) -> float:
        """Note as faults the answers that no one snapshot would have written; the widest gap of those that one would.

        Several answers computed together round otherwise than one alone, so where two tokens are nearly as likely,
        either may be written. A token that another snapshot wrote is far from what this one finds likeliest.
        """
        gaps: dict[tuple[str, str, str | None], float] = {}
        for name, digest in digests.items():
            client = EngineClient(self.home, self.settings, always(digest))
            for case in self.seen.unlike:
                question, text, snapshot = case
                if snapshot in (None, name):
                    worth = await client.score(conversation(question), text, top=1)
                    # Neither the end, which a broken-off answer has not, nor a word that was cut.
                    gap = max((token.top[0].logprob - token.logprob for token in worth[:-2]), default=0.0)
                    gaps[case] = min(gap, gaps.get(case, gap))
        self.seen.faults += [f"{case}: {gap:.2f}" for case, gap in gaps.items() if gap > NEARLY]
        return max(gaps.values(), default=0.0)


def conversation(question: str) -> list[Message]:
    """What every asker's question is asked in."""
    return [Message("system", "You are a helpful assistant."), Message("user", question)]


def always(digest: str) -> Callable[[], str]:
    """A household whose snapshot is this one."""
    return lambda: digest
