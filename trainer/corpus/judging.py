"""What is done with each document by itself, in whichever process: it is cleaned, judged, and made to be compared."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from configs.letters import unaccented
from configs.pretraining.corpus import Corpus
from trainer.contamination import GRAM, TrainedTexts
from trainer.corpus.cleaning import cleaned, letter_share, repeated_share
from trainer.corpus.language import language_of, probability
from trainer.corpus.likeness import Signer
from trainer.corpus.personal import scrubbed
from trainer.corpus.readers.document import Document, Read

Reason = Literal["short", "few_letters", "repetitive", "other_language", "in_evaluation", "duplicate", "near_duplicate"]
_WORDS: Final = re.compile(r"\w+")


@dataclass(frozen=True)
class Judged:
    """A document: its text as it is kept, or the ``reason`` for which it is not. ``words``: 64 bits of its words."""

    where: str
    text: str
    reason: Reason | None = None
    language: str = ""
    words: int = 0
    signature: npt.NDArray[np.uint32] | None = None
    personal: Counter[str] = field(default_factory=Counter)


class Judge:
    """By a corpus' plan. ``evaluations``: texts that are measured by, and must not be trained."""

    def __init__(self, plan: Corpus, evaluations: Sequence[str]) -> None:
        self._plan = plan
        self._measured = TrainedTexts(("", text) for text in evaluations)
        self._signer = Signer(plan.duplicates.permutations, plan.duplicates.shingle_words)

    def clean(self, reads: Sequence[Read]) -> list[Read]:
        """Every document in its clean form; what is none stays as it is."""
        return [Document(cleaned(each.text), each.where) if isinstance(each, Document) else each for each in reads]

    def judge(self, reads: Sequence[Read]) -> list[Judged | Read]:
        """Every document judged; what is none stays as it is."""
        return [self._one(each) if isinstance(each, Document) else each for each in reads]

    def _one(self, document: Document) -> Judged:
        text, plan = document.text, self._plan
        reason: Reason | None = None
        if len(text) < max(1, plan.cleaning.least_characters):
            reason = "short"
        elif letter_share(text) < plan.cleaning.least_letter_share:
            reason = "few_letters"
        elif repeated_share(text) > plan.cleaning.most_repeated_share:
            reason = "repetitive"
        begin = text[: plan.identification.characters]
        if (
            reason is None
            and plan.identification.least
            and probability(begin, plan.language) < plan.identification.least
        ):
            return Judged(document.where, text, "other_language", language_of(begin))
        if reason is None and self._is_measured(text):
            reason = "in_evaluation"
        if reason is not None:
            return Judged(document.where, text, reason)
        return self._kept(document)

    def _kept(self, document: Document) -> Judged:
        text, personal = scrubbed(document.text, self._plan.personal.kinds)
        words = _WORDS.findall(unaccented(text)) or [""]
        number = int.from_bytes(hashlib.blake2b(" ".join(words).encode(), digest_size=8).digest(), "little")
        return Judged(document.where, text, None, "", number, self._signer.sign(words), personal)

    def _is_measured(self, text: str) -> bool:
        """Whether thirteen words in a row are in a text that is measured by."""
        overlapping, pieces = self._measured.overlaps(text)
        return overlapping > 0 and (pieces > 1 or len(_WORDS.findall(text)) >= GRAM)


def evaluation_texts(reads: Iterable[Read]) -> list[str]:
    """The texts of what is measured by."""
    return [cleaned(each.text) for each in reads if isinstance(each, Document)]


def in_batches(reads: Iterable[Read], documents: int, characters: int) -> Iterator[list[Read]]:
    """Some reads at a time: until so many, or so many characters, are together."""
    batch: list[Read] = []
    size = 0
    for each in reads:
        batch.append(each)
        size += len(each.text) if isinstance(each, Document) else 1
        if len(batch) >= documents or size >= characters:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
