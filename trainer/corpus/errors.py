"""What can be wrong with a corpus or its shards; each is told before a training begins."""

from __future__ import annotations

from trainer.errors import TrainerError


class ShardsMissing(TrainerError):
    """There is no corpus of tokens. facts: path."""

    code = "shards_missing"


class ShardsBroken(TrainerError):
    """A shard or the index is not what was written. facts: path, reason."""

    code = "shards_broken"


class CorpusTooSmall(TrainerError):
    """Less text than one batch takes. facts: split, tokens, needed."""

    code = "corpus_too_small"


class CorpusChanged(TrainerError):
    """A training that goes on finds other text than it began with. facts: expected, found (hashes, or numbers)."""

    code = "corpus_changed"
