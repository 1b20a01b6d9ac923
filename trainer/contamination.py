"""What is measured must not have been trained: the same question, or thirteen words in a row, counts as the same.

Thirteen words are the measure of GPT-3's appendix C (Brown et al., arXiv 2005.14165).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from configs.letters import unaccented
from trainer.packing import Item

GRAM = 13
Words = tuple[str, ...]


class Trained:
    """All that a run trained, as words.

    ``text_of``: tokens as text. ``closing``: what follows each question in a prompt (the end of the turn, and the
    beginning of the answer's), as tokens.
    """

    def __init__(self, items: Iterable[Item], text_of: Callable[[Sequence[int]], str], closing: Sequence[int]) -> None:
        self._prompts: set[tuple[int, ...]] = set()
        self._questions: dict[str, list[Words]] = {}
        self._grams: set[Words] = set()
        for item in dict.fromkeys(items):
            asked = item.prompt[: len(item.prompt) - len(closing)] if _ends_with(item.prompt, closing) else item.prompt
            words = _words(text_of(asked))
            if item.prompt not in self._prompts and words:
                self._prompts.add(item.prompt)
                self._questions.setdefault(words[-1], []).append(words)
            self._grams |= set(_grams((*words, *_words(text_of(item.answer)))))

    def has(self, prompt: tuple[int, ...]) -> bool:
        """Whether this prompt was trained, token for token."""
        return prompt in self._prompts

    def overlaps(self, text: str) -> tuple[int, int]:
        """How many of a text's pieces were trained, and how many it has: its runs of thirteen words, or, of a shorter
        one, itself, which was trained where some question ends with it.
        """
        words = _words(text)
        if len(words) >= GRAM:
            grams = _grams(words)
            return sum(gram in self._grams for gram in grams), len(grams)
        ending = self._questions.get(words[-1], []) if words else []
        return int(any(each[-len(words) :] == words for each in ending)), 1


def _words(text: str) -> Words:
    return tuple(re.findall(r"\w+", unaccented(text)))


def _grams(words: Words) -> list[Words]:
    return [words[start : start + GRAM] for start in range(len(words) - GRAM + 1)]


def _ends_with(tokens: Sequence[int], ending: Sequence[int]) -> bool:
    return bool(ending) and tuple(tokens[-len(ending) :]) == tuple(ending)
