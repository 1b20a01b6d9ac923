"""What is measured must not have been trained: the same question, or thirteen words in a row, counts as the same.

Thirteen words are the measure of GPT-3's appendix C (Brown et al., arXiv 2005.14165).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from configs.letters import unaccented

if TYPE_CHECKING:
    # Torch is none of what a plan needs.
    from trainer.packing import Item

GRAM = 13
Words = tuple[str, ...]


class TrainedTexts:
    """Texts that are trained. ``pairs``: each what is asked, to its end, and what is answered to it."""

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        self._questions: dict[str, set[Words]] = {}
        self._grams: set[Words] = set()
        for asked, answer in pairs:
            words = _words(asked)
            if words:
                self._questions.setdefault(words[-1], set()).add(words)
            self._grams |= set(_grams((*words, *_words(answer))))

    def overlaps(self, text: str) -> tuple[int, int]:
        """How many of a text's pieces were trained, and how many it has: its runs of thirteen words, or, of a shorter
        one, itself, which was trained where some question ends with it.
        """
        words = _words(text)
        if len(words) >= GRAM:
            grams = _grams(words)
            return sum(gram in self._grams for gram in grams), len(grams)
        ending = self._questions.get(words[-1], set()) if words else set()
        return int(any(each[-len(words) :] == words for each in ending)), 1


class Trained(TrainedTexts):
    """The same of what a run has trained as tokens.

    ``text_of``: tokens as text. ``closing``: what follows each question in a prompt (the end of the turn, and the
    beginning of the answer's), as tokens.
    """

    def __init__(self, items: Iterable[Item], text_of: Callable[[Sequence[int]], str], closing: Sequence[int]) -> None:
        told = list(dict.fromkeys(items))
        self._prompts = {item.prompt for item in told}
        super().__init__((text_of(_asked(item.prompt, closing)), text_of(item.answer)) for item in told)

    def has(self, prompt: tuple[int, ...]) -> bool:
        """Whether this prompt was trained, token for token."""
        return prompt in self._prompts


def _words(text: str) -> Words:
    return tuple(re.findall(r"\w+", unaccented(text)))


def _grams(words: Words) -> list[Words]:
    return [words[start : start + GRAM] for start in range(len(words) - GRAM + 1)]


def _asked(prompt: tuple[int, ...], closing: Sequence[int]) -> tuple[int, ...]:
    """A prompt without what closes its question."""
    ends = bool(closing) and prompt[-len(closing) :] == tuple(closing)
    return prompt[: len(prompt) - len(closing)] if ends else prompt
