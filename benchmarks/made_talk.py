"""What a family of nobody's says, made by chance from a seed: words as rare as words are, in two languages."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Final

from configs.wordlists import words_of

SMALL: Final = {
    "es": words_of(
        "de la que el en y a los se del las un por con no una su para es al lo como más pero sus le ya fue este sí"
        " porque esta son entre está cuando muy sin sobre ser tiene también me hasta hay donde quien desde todo nos"
    ),
    "en": words_of(
        "of the and to in is that it was for on are as with his they at be this from have or by one had not but what"
        " all were when we there can an your which their said if do will each about how up out them then she many so"
    ),
}
_PARTS: Final = sorted(
    words_of(
        "ba be bi bo ca co cu cha che da de di do fa fe fi ga go jo la le li lo lla ma me mi mo mu na ne ni no ña pa pe"
        " pi po ra re ri ro sa se si so ta te ti to tra va ve vi za zo"
    )
)
_WORDS: Final = 40_000
_EVEN: Final = 3  # how far the commonest words are from Zipf's law, in which the first is half of all


class Talk:
    """Sentences, and questions about them."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)  # noqa: S311
        made = ("".join(self._chance.choices(_PARTS, k=self._chance.randint(2, 4))) for _ in range(2 * _WORDS))
        self._words = list(dict.fromkeys(made))[:_WORDS]
        self._weights = list(itertools.accumulate(1 / (rank + _EVEN) for rank in range(len(self._words))))

    def sentences(self, number: int, shortest: int, longest: int) -> Iterator[str]:
        """Half of the words of each hold it together, the others are rarer the later they are in the list."""
        for _ in range(number):
            small = sorted(SMALL[self._chance.choice(("es", "en"))])
            long = self._chance.randint(shortest, longest)
            words = self._chance.choices(self._words, cum_weights=self._weights, k=long // 2)
            words += self._chance.choices(small, k=long - long // 2)
            self._chance.shuffle(words)
            yield " ".join(words).capitalize() + "."

    def searches(self, sentences: list[str]) -> Iterator[str]:
        """For each sentence what somebody may type who looks for it: a word, two or three, the beginning of one."""
        for place, sentence in enumerate(sentences):
            telling = [word for word in sentence.strip(".").lower().split() if len(word) > 3] or sentence.split()
            number = min(len(telling), place % 3 + 1)
            words = self._chance.sample(telling, number)
            yield " ".join(words)[: -1 if place % 4 == 0 else None]

    def questions(self, sentences: list[str]) -> Iterator[str]:
        """For each sentence a question that holds half of its words, and some that are not in it."""
        for sentence in sentences:
            words = sentence.strip(".").lower().split()
            kept = self._chance.sample(words, max(3, len(words) // 2))[:8]
            other = self._chance.choices(self._words, cum_weights=self._weights, k=2)
            yield "¿" + " ".join([*kept, *other]) + "?"
