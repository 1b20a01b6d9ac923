"""The loaders of a corpus, opened by its folder; everything that is wrong with it is told here, before a training."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from trainer.corpus.errors import CorpusChanged, ShardsBroken
from trainer.corpus.index import Split
from trainer.corpus.loader import TokenLoader
from trainer.corpus.shards import ShardTokens


def open_loaders(
    folder: Path,
    seed: int,
    *,
    vocabulary: int,
    length: int,
    batches: Mapping[Split, int],
    tokenizer: str | None = None,
) -> dict[Split, TokenLoader]:
    """A loader for each split of ``batches``, which says how many sequences of ``length`` a batch of it has.

    ``vocabulary``: the model's, and ``tokenizer``: the SHA-256 of its tokenizer (None: any), which the corpus must be
    of. Raises ShardsMissing, ShardsBroken, CorpusTooSmall, CorpusChanged.
    """
    loaders: dict[Split, TokenLoader] = {}
    for split, sequences in batches.items():
        tokens = ShardTokens(folder, split)
        if tokens.index.vocabulary != vocabulary:
            raise ShardsBroken(path=str(folder), reason="it was made for a vocabulary of another size")
        if tokenizer is not None and tokens.index.tokenizer != tokenizer:
            raise CorpusChanged(expected=tokenizer, found=tokens.index.tokenizer)
        loaders[split] = TokenLoader(tokens, seed)
        loaders[split].check(sequences, length)
    return loaders
