"""A whole answer for somebody who gives way to everybody else."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing

from engine.answers import Delta, Finished, Sampling
from engine.errors import EngineBusy
from engine.interface import Engine
from engine.messages import Message


async def whole_answer(
    engine: Engine, messages: Sequence[Message], sampling: Sampling, *, cache_key: str, snapshot: str | None
) -> str | None:
    """The answer's text; None where somebody else was to be answered meanwhile, or too many were.

    ``snapshot``: who answers; a question that names one comes after all others. Raises what ``Engine.chat`` raises.
    """
    text = ""
    try:
        async with aclosing(engine.chat(messages, sampling, cache_key=cache_key, snapshot=snapshot)) as pieces:
            async for piece in pieces:
                if isinstance(piece, Delta):
                    text += piece.text
                elif isinstance(piece, Finished) and piece.reason == "cancelled":
                    return None
    except EngineBusy:
        return None
    return text
