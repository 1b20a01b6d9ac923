"""In the place of the engine: it remembers what it is asked, and answers with all of it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Any

from engine.answers import Delta, Finished, Sampling, Usage
from engine.messages import Message


class RecordingEngine:
    """The worst that a model could do with a prompt: repeat it. ``prompts``: since they were last looked at."""

    def __init__(self) -> None:
        self.prompts: list[str] = []

    async def chat(self, messages: Sequence[Message], sampling: Sampling, **_: Any) -> AsyncGenerator[Any, None]:
        prompt = "\n".join(f"{message.role}: {message.content}" for message in messages)
        self.prompts.append(prompt)
        yield Delta(prompt)
        yield Finished("stop", Usage(10, 0, 10, 1.0, 1.0, "v0", 4096))

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.prompts += texts
        return [[1.0, 0.0] for _ in texts]

    async def status(self) -> None:
        return None

    async def tokenize(self, content: str | Sequence[Message]) -> list[int]:
        self.prompts.append(content if isinstance(content, str) else repr(content))
        return []
