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


class TooFewDocuments(TrainerError):
    """Not even one document to train on and one to look at was kept. facts: kept, read, needed."""

    code = "too_few_documents"


class NoText(TrainerError):
    """None of the sources has anything that could be read as text. facts: files, unreadable."""

    code = "no_text"


class HelperLost(TrainerError):
    """A process that cleaned documents ended in the middle of them, for want of memory most likely. No facts."""

    code = "helper_lost"


class DataSetNotFetched(TrainerError):
    """facts: name, file (empty where it is the data set as a whole), reason."""

    code = "data_set_not_fetched"


class DataSetUnreadable(TrainerError):
    """None of its files is of a form that is read. facts: name, files (some of them)."""

    code = "data_set_unreadable"


class CorpusBusy(TrainerError):
    """Another process is making this corpus. facts: path."""

    code = "corpus_busy"
