"""Whether a conversation is about what an adapter was taught: only then is it applied.

Everything else is answered by the base alone, to the bit as if nothing had been taught. That adapters are best kept to
what they were trained for is from KEDAS (arXiv 2508.01302); here the words decide, so that it costs no computation and
everybody can see why.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from configs.letters import unaccented
from engine.errors import AdapterMismatch

if TYPE_CHECKING:
    from engine.messages import Message
    from engine.served import AdapterSet

# Where an adapter's GGUF says what it is applied to; without it the adapter is always on.
ROUTE_KEY = "enlace.route"
SHORTEST_PLURAL = 4


@dataclass(frozen=True)
class Route:
    """``weights``: by word (``route_words``), how much it tells; a text matches whose words weigh ``least`` together.

    ``phrases``: sequences of words of which one is enough, for questions whose every word is an everyday one.
    """

    weights: Mapping[str, float]
    phrases: tuple[str, ...]
    least: float

    def matches(self, text: str) -> bool:
        """Whether a text is about what was taught."""
        words = route_words(text)
        if sum(self.weights.get(word, 0.0) for word in set(words)) >= self.least:
            return True
        spaced = f" {' '.join(words)} "
        return any(f" {phrase} " in spaced for phrase in self.phrases)

    def as_text(self) -> str:
        """``route_from_text`` reads it back."""
        return json.dumps(
            {"weights": dict(self.weights), "phrases": list(self.phrases), "least": self.least}, ensure_ascii=False
        )


def route_from_text(text: str, path: str) -> Route:
    """The reverse of ``Route.as_text``; ``path`` is the adapter that holds it. Raises AdapterMismatch."""
    try:
        given = json.loads(text)
        weights = {str(word): float(weight) for word, weight in given["weights"].items()}
        return Route(weights, tuple(map(str, given["phrases"])), float(given["least"]))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise AdapterMismatch(path=path, reason=f"its {ROUTE_KEY} cannot be read: {error}") from error


def route_words(text: str) -> list[str]:
    """The words of a text as routes know them: small letters, no accents but ñ, neither possessive nor plural s."""
    plain = unaccented(text).replace("’", "'")
    words = (word.removesuffix("'s").replace("'", "") for word in re.findall(r"[\w'-]+", plain))
    return [word[:-1] if word.endswith("s") and len(word) >= SHORTEST_PLURAL else word for word in words if word]


def routed(adapters: AdapterSet, messages: Sequence[Message]) -> AdapterSet:
    """Those adapters that a conversation is answered with: any turn of the user's counts, so that what was taught once
    in a conversation holds until its end, and nothing of it is read twice for a question in between.
    """
    return routed_texts(adapters, [message.content for message in messages if message.role == "user"])


def routed_texts(adapters: AdapterSet, texts: Iterable[str]) -> AdapterSet:
    """Those adapters that are always on, or whose route one of the texts matches."""
    asked = list(texts)
    return tuple(file for file in adapters if file.route is None or any(map(file.route.matches, asked)))
