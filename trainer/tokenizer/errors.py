"""What can be wrong with a tokenizer; told before anything is trained with it."""

from __future__ import annotations

from trainer.errors import TrainerError


class TokenizerMissing(TrainerError):
    """facts: path."""

    code = "tokenizer_missing"


class TokenizerBroken(TrainerError):
    """facts: path, reason."""

    code = "tokenizer_broken"


class VocabularyNotReached(TrainerError):
    """The text has not so many pairs that are worth a token. facts: wanted, reached."""

    code = "vocabulary_not_reached"
