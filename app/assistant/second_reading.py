"""The model reads, after an answer, what patterns may have missed in the question; code checks every word of it.

It is asked at temperature 0 under a JSON Schema, with nothing of memory or of the conversation before it, only while
nobody else is answered. Whoever asks next cancels it; what was not read is read another time.
"""

from __future__ import annotations

import json
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from engine.answers import Delta, EngineStatus, Finished, Sampling
from engine.messages import Message
from memory.extraction.checking import Claim
from memory.extraction.patterns import load_patterns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from configs.settings import Settings
    from engine.interface import Engine
    from memory.chats import ChatMessage
    from memory.facts import Fact
    from memory.household import MemberMemory

# Another instruction is another reader: what it finds is kept under its name.
_INSTRUCTION: Final = (
    "You list facts that the user states about themselves or about a person whom they name, and nothing else. "
    "quote: the exact words. object: the part of the quote that is the value. about: me or other. name: of the other. "
    'If the message states no such fact, answer {"facts": []}.'
)
_EXAMPLES: Final = (
    ("What is the capital of France?", '{"facts": []}'),
    (
        "I am mad about old films, tell me one.",
        '{"facts": [{"quote": "I am mad about old films", "predicate": "likes", "about": "me", "name": "", '
        '"object": "old films"}]}',
    ),
)
_READER: Final = "1"
_MOST: Final = 3


async def read_on(engine: Engine, memory: MemberMemory, settings: Settings) -> list[Fact]:
    """Have the model read the latest messages that none has read; what that left in memory.

    Nothing where the settings do not want it, where a server of the family's answers, and while anybody is answered.
    Raises EngineError, and what memory raises about a database.
    """
    facts = settings.memory.facts
    found: list[Fact] = []
    if not facts.model_reads or settings.engine.server.kind != "own":
        return found
    for message in memory.hearing.unread(facts.model_messages):
        status = await engine.status()
        if not isinstance(status, EngineStatus) or status.busy:
            return found
        claims = await _claims(engine, message, settings)
        found += memory.hearing.read_by_model(message, f"{status.model} {_READER}", claims)
    return found


async def _claims(engine: Engine, message: ChatMessage, settings: Settings) -> list[Claim]:
    defaults = Sampling.defaults(settings.engine.sampling)
    sampling = replace(
        defaults, temperature=0, json_schema=_schema(), max_tokens=settings.memory.facts.model_tokens, seed=0
    )
    written = ""
    async with aclosing(engine.chat(_prompt(message.content), sampling)) as pieces:
        async for piece in pieces:
            if isinstance(piece, Delta):
                written += piece.text
            elif isinstance(piece, Finished) and piece.reason != "stop":
                # Cut off in the middle: nothing of it is JSON.
                return []
    return [Claim(**each) for each in json.loads(written)["facts"]]


def _prompt(text: str) -> Sequence[Message]:
    shown = [Message("system", _INSTRUCTION)]
    for said, read in _EXAMPLES:
        shown += [Message("user", said), Message("assistant", read)]
    return [*shown, Message("user", text)]


def _schema() -> dict[str, Any]:
    words = {"type": "string", "maxLength": 120}
    claim = {
        "quote": words,
        "predicate": {"enum": sorted(load_patterns().cues)},
        "about": {"enum": ["me", "other"]},
        "name": {"type": "string", "maxLength": 40},
        "object": {"type": "string", "maxLength": 60},
    }
    item = {"type": "object", "properties": claim, "required": list(claim), "additionalProperties": False}
    return {
        "type": "object",
        "properties": {"facts": {"type": "array", "items": item, "maxItems": _MOST}},
        "required": ["facts"],
        "additionalProperties": False,
    }
