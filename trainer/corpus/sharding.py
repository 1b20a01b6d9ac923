"""Cleaned texts into shards: which documents are never trained on, what the tokenizer is trained on, and the tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from trainer.corpus.errors import TooFewDocuments
from trainer.corpus.index import Index, Split
from trainer.corpus.shard_writer import ShardWriter
from trainer.corpus.shuffled import keyed
from trainer.corpus.texts import Texts, documents_of, split_number
from trainer.tokenizer.tokenizer import Tokenizer

WHOLE: Final = 1 << 64  # how many numbers of 64 bits there are
AT_ONCE: Final = 128  # documents that are tokenised together
# Fewer than one to train on and one to look at are no corpus.
LEAST: Final = 2


class Splits:
    """``share`` of the documents of ``texts`` is for validation, and at least one of them. Raises TooFewDocuments."""

    def __init__(self, texts: Texts, share: float) -> None:
        if texts.documents < LEAST:
            raise TooFewDocuments(kept=texts.documents, read=texts.report.documents, needed=LEAST)
        self._below = max(round(share * WHOLE), texts.least + 1)

    def of(self, text: str) -> Split:
        """Where a document belongs; only its text decides."""
        return "validation" if split_number(text) < self._below else "train"


def sample(folder: Path, texts: Texts, splits: Splits, characters: int) -> Iterator[str]:
    """Documents that are trained on, some ``characters`` of them, from all over the corpus. Raises ShardsBroken."""
    below = round(min(1.0, characters / max(1, texts.characters)) * WHOLE)
    for text in documents_of(folder, texts):
        if keyed("sample", text) < below and splits.of(text) == "train":
            yield text


def write_shards(
    folder: Path, texts_folder: Path, texts: Texts, splits: Splits, tokenizer: Tokenizer, shard_tokens: int,
    moved: Callable[[int], None],
) -> Index:  # fmt: skip
    """Write the shards of ``texts`` into ``folder``. Raises ShardsBroken, NoRoom.

    ``moved(documents)`` is called as it goes, and may raise to interrupt.
    """
    writer = ShardWriter(
        folder,
        vocabulary=tokenizer.vocabulary,
        end=tokenizer.end,
        tokenizer=tokenizer.sha256,
        shard_tokens=shard_tokens,
    )
    done = 0
    documents = ((splits.of(text), text) for text in documents_of(texts_folder, texts))
    for batch in _batches(documents):
        wanted = [(split, text) for split, text in batch if writer.wants(split)]
        ids = tokenizer.encode([text for _, text in wanted])
        for (split, text), tokens in zip(wanted, ids, strict=True):
            writer.add(split, tokens, len(text.encode()))
        done += len(batch)
        moved(done)
    return writer.finish()


def _batches(documents: Iterable[tuple[Split, str]]) -> Iterator[list[tuple[Split, str]]]:
    waiting = iter(documents)
    while batch := list(islice(waiting, AT_ONCE)):
        yield batch
