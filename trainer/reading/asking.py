"""Asking the model about a sentence, under a grammar, and giving way to everybody else who asks."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from configs.settings import Settings
from engine.answers import Sampling
from engine.giving_way import whole_answer
from engine.interface import Engine
from engine.messages import Message
from memory.documents.extracting.modelled import NONE, Question
from memory.graph.terms import RELATIONS

# Who asks, and the conversation whose beginning is the same each time.
_KEY: Final = "documents/reading"
_MEANS: Final = {
    "works_at": "works at", "works_on": "works on the project", "leads": "leads the project", "founded": "founded",
    "lives_in": "lives in", "born_in": "was born in", "located_in": "is located in", "married_to": "is married to",
    "parent_of": "is a parent of", "sibling_of": "is a sibling of", "client_of": "is a client of",
    "supplier_of": "is a supplier of",
}  # fmt: skip
_TASK: Final = (
    "Read the sentence. Which relation does it state between two of the names? Answer in JSON with subject, relation "
    f"and object. If it states none, the relation is {NONE}."
)
_EXAMPLES: Final = (
    ("Ana Gil has worked since May at Delta Bank.", ("Ana Gil", "works_at", "Delta Bank")),
    ("Luis Mora se ha mudado a vivir a Sevilla.", ("Luis Mora", "lives_in", "Sevilla")),
    ("Ana Gil and Luis Mora work a lot.", ("Ana Gil", NONE, "Luis Mora")),
)


class Asking:
    """``snapshot``: the manifest of the one that answers, named so that whoever else asks goes before; None where a
    server of the family's answers, which knows no such thing. ``stopped``: whether to give up waiting.
    """

    def __init__(self, engine: Engine, settings: Settings, snapshot: str | None, stopped: Callable[[], bool]) -> None:
        documents = settings.memory.documents
        self._engine = engine
        self._wait_s = documents.model_wait_s
        self._sampling = replace(
            Sampling.defaults(settings.engine.sampling),
            temperature=0.0,
            repeat_penalty=1.0,
            max_tokens=documents.model_tokens,
            seed=0,
        )
        self._snapshot = snapshot
        self._stopped = stopped

    def both(self, question: Question) -> tuple[Mapping[str, Any], Mapping[str, Any]] | None:
        """The answers to the question put in two ways; None where it was to be stopped. Raises what the engine does."""
        first = asyncio.run(self._patiently(question, turned=False))
        second = asyncio.run(self._patiently(question, turned=True)) if first is not None else None
        return None if first is None or second is None else (first, second)

    async def _patiently(self, question: Question, *, turned: bool) -> Mapping[str, Any] | None:
        while not self._stopped():
            answer = await self._answer(question, turned=turned)
            if answer is not None:
                return answer
            await asyncio.sleep(self._wait_s)
        return None

    async def _answer(self, question: Question, *, turned: bool) -> Mapping[str, Any] | None:
        """The answer; None where somebody else was to be answered meanwhile."""
        sampling = replace(self._sampling, json_schema=question.schema(turned=turned))
        text = await whole_answer(self._engine, _messages(question), sampling, cache_key=_KEY, snapshot=self._snapshot)
        if text is None:
            return None
        try:
            told = json.loads(text)
        except ValueError:
            # Cut at its longest: an answer that says nothing.
            return {"relation": NONE}
        return told if isinstance(told, dict) else {"relation": NONE}


def _messages(question: Question) -> list[Message]:
    relations = "; ".join(f"{name} ({_MEANS[name]})" for name in RELATIONS if name in _MEANS)
    messages = [Message("system", f"{_TASK} Relations: {relations}; {NONE}.")]
    for sentence, (subject, relation, obj) in _EXAMPLES:
        answer = json.dumps({"subject": subject, "relation": relation, "object": obj}, ensure_ascii=False)
        messages += [Message("user", sentence), Message("assistant", answer)]
    return [*messages, Message("user", question.sentence.strip())]
