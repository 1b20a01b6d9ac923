"""What a client gives the engine with a question and what it gets back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from configs.sections.engine import SamplingSettings
from engine.messages import ToolCall

Reason = Literal["stop", "length", "cancelled"]


@dataclass(frozen=True)
class Sampling:
    """How one answer is written. ``seed`` None draws a fresh one; ``stop`` ends the answer where it would appear."""

    temperature: float
    top_k: int
    top_p: float
    min_p: float
    repeat_penalty: float
    repeat_window: int
    max_tokens: int
    seed: int | None = None
    stop: tuple[str, ...] = ()

    @classmethod
    def defaults(cls, settings: SamplingSettings) -> Sampling:
        """The household's own way of answering; change single values with ``dataclasses.replace``."""
        return cls(**settings.model_dump())


@dataclass(frozen=True)
class Usage:
    """What an answer took. ``cached_tokens`` of the prompt were reused; ``context_size`` is what a slot can hold."""

    prompt_tokens: int
    cached_tokens: int
    answer_tokens: int
    ttft_ms: float
    tokens_per_second: float
    snapshot: str
    context_size: int


@dataclass(frozen=True)
class Delta:
    """The next piece of an answer: whole characters."""

    text: str


@dataclass(frozen=True)
class Thought:
    """The next piece of what a thinking model thinks before it answers: no part of the answer."""

    text: str


@dataclass(frozen=True)
class Called:
    """The model asks for one of the tools that it was offered."""

    call: ToolCall


Piece = Delta | Thought | Called


@dataclass(frozen=True)
class Finished:
    """The end of an answer and why it ended there."""

    reason: Reason
    usage: Usage


@dataclass(frozen=True)
class EngineStatus:
    """The truth about a running engine. ``memory_bytes`` is resident; ``tokens_per_second`` is of the last answer."""

    pid: int
    model: str
    snapshot: str
    manifest: str
    context_size: int
    slots: int
    busy: int
    waiting: int
    uptime_s: float
    memory_bytes: int
    tokens_per_second: float
