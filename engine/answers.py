"""What a client gives the engine with a question and what it gets back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from configs.sections.engine import SamplingSettings
from engine.messages import ToolCall

Reason = Literal["stop", "length", "cancelled", "tool_calls"]
# The logit bias from which on a token is never chosen; OpenAI's.
BANNED = -100


@dataclass(frozen=True)
class Sampling:
    """How one answer is written. ``seed`` None draws a fresh one; ``stop`` ends the answer where it would appear.

    ``logit_bias``: what is added to the logits of tokens by their ids, -100 for never. ``grammar`` in GBNF or
    ``json_schema``: what the answer has to keep to. ``logprobs``: tell what each token was worth, with the
    ``top_logprobs`` likeliest at its place.
    """

    temperature: float
    top_k: int
    top_p: float
    min_p: float
    repeat_penalty: float
    repeat_window: int
    max_tokens: int
    seed: int | None = None
    stop: tuple[str, ...] = ()
    frequency_penalty: float = 0.0
    presence_penalty: float = 0.0
    logit_bias: Mapping[int, float] = field(default_factory=dict)
    grammar: str | None = None
    json_schema: Mapping[str, Any] | None = None
    logprobs: bool = False
    top_logprobs: int = 0

    @classmethod
    def defaults(cls, settings: SamplingSettings) -> Sampling:
        """The household's own way of answering; change single values with ``dataclasses.replace``."""
        return cls(**settings.model_dump())


# In the name of what answered, between what the family is served and what lay over it for one member alone.
PRIVATELY = "+"


@dataclass(frozen=True)
class PrivateAdapter:
    """An adapter of one member's own, in that member's part of the home, laid over what the family is served.

    ``member``: an id. ``sha256``: which file. ``manifest``: the snapshot over which alone it means anything.
    """

    member: str
    sha256: str
    manifest: str
    scale: float = 1.0


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
class TokenLogprob:
    """A token, the bytes that it writes and the natural logarithm of the probability that the model gives it.

    The probability is the model's own, before temperature, penalties, bias and grammar. ``top``: the likeliest
    tokens at this place, the likeliest first.
    """

    token: int
    text: str
    bytes: bytes
    logprob: float
    top: tuple[TokenLogprob, ...] = ()


@dataclass(frozen=True)
class Delta:
    """The next piece of an answer: whole characters, and where asked for what the tokens are worth that were written.

    A token that is half a character, or may yet turn out to end the answer, comes before its text does.
    """

    text: str
    logprobs: tuple[TokenLogprob, ...] = ()


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
class Waiting:
    """Every slot is taken: the question is the ``place``th in the queue, 1 for the one that has been there longest.

    Whoever has fewer answers in hand may go before it.
    """

    place: int


@dataclass(frozen=True)
class Finished:
    """The end of an answer and why it ended there."""

    reason: Reason
    usage: Usage


@dataclass(frozen=True)
class EngineStatus:
    """The truth about a running engine. ``memory_bytes`` is resident; ``tokens_per_second`` is of the last answer.

    ``form``: the form in which the model is served; ``merged``: what was learned is part of its weights.
    ``version``: of Enlace; an engine outlives the program that started it.
    """

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
    form: str
    merged: bool
    version: str
