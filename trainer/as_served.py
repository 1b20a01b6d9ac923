"""Answers as the family gets them: each conversation with those adapters whose route it takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.routes import routed_texts
from engine.scoring import LocalModel
from engine.served import AdapterSet


@dataclass(frozen=True)
class Asked:
    """A conversation: ``texts``, what the user says in it, and ``prompt``, all of it as tokens."""

    texts: tuple[str, ...]
    prompt: tuple[int, ...]


def greedy_as_served(
    served: LocalModel, adapters: AdapterSet, conversations: Sequence[Asked], most_tokens: int
) -> list[list[int]]:
    """The likeliest answer to each conversation, in their order; afterwards no adapter is on.

    Raises AdapterMismatch and PromptTooLong.
    """
    answers: dict[int, list[int]] = {}
    ways = [routed_texts(adapters, each.texts) for each in conversations]
    for way in dict.fromkeys(ways):
        served.set_adapters(way)
        places = [place for place, taken in enumerate(ways) if taken == way]
        found = served.greedy([conversations[place].prompt for place in places], most_tokens)
        answers |= dict(zip(places, found, strict=True))
    served.set_adapters([])
    return [answers[place] for place in range(len(conversations))]
