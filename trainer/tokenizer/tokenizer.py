"""Byte-level BPE (Sennrich et al. 2016; Radford et al. 2019): any text becomes tokens, and comes back to the byte.

The pre-tokeniser is the one that llama.cpp calls ``qwen2``: a word with the one sign before it, each digit by itself,
runs of other signs with the line ends after them (docs/decisions/tokenizer.md). No text is normalised: llama.cpp would
not.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Self

import numpy as np
import numpy.typing as npt
import tokenizers
from tokenizers import AddedToken, Regex, decoders, models, pre_tokenizers, trainers

from trainer.room import write_whole
from trainer.tokenizer.errors import TokenizerBroken, TokenizerMissing, VocabularyNotReached

NAME: Final = "tokenizer.json"
PRE: Final = "qwen2"  # tokenizer.ggml.pre
PIECES: Final = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
BYTES: Final = 256


class Tokenizer:
    """A trained tokenizer. Ids: pieces of text first, then ``special``, the first of which ends each document."""

    def __init__(self, content: str) -> None:
        self._content = content
        self._inner = tokenizers.Tokenizer.from_str(content)
        # What looks like a special token in a text is text.
        self._inner.encode_special_tokens = True
        told = json.loads(content)
        self.special: tuple[str, ...] = tuple(each["content"] for each in told["added_tokens"])
        self.merges: tuple[tuple[str, str], ...] = tuple((first, second) for first, second in told["model"]["merges"])
        self.vocabulary: int = self._inner.get_vocab_size(with_added_tokens=True)
        self.end: int = self.id_of(self.special[0])
        self.sha256 = hashlib.sha256(content.encode()).hexdigest()

    @classmethod
    def load(cls, folder: Path) -> Self:
        """The tokenizer that ``save`` wrote. Raises TokenizerMissing, TokenizerBroken."""
        path = folder / NAME
        try:
            return cls(path.read_text(encoding="utf-8"))
        except FileNotFoundError as error:
            raise TokenizerMissing(path=str(folder)) from error
        except Exception as error:
            # The library raises bare exceptions for whatever is wrong with the file.
            raise TokenizerBroken(path=str(path), reason="it is no tokenizer of this making") from error

    @classmethod
    def train(cls, texts: Iterable[str], vocabulary: int, special: Sequence[str], lowest_count: int) -> Self:
        """Train ``vocabulary`` tokens, ``special`` among them; with 256 beside those, every byte is a token.

        Pairs that are rarer than ``lowest_count`` are never joined. The same texts in the same order give the same
        tokenizer. Raises VocabularyNotReached.
        """
        inner = tokenizers.Tokenizer(models.BPE())
        inner.pre_tokenizer = pre_tokenizers.Sequence(
            [
                pre_tokenizers.Split(Regex(PIECES), "isolated"),
                pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
            ]
        )
        inner.decoder = decoders.ByteLevel()
        pieces = vocabulary - len(special)
        trainer = trainers.BpeTrainer(
            vocab_size=pieces,
            min_frequency=lowest_count,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        )
        inner.train_from_iterator(map(_whole, texts) if pieces > BYTES else iter(()), trainer)
        if inner.get_vocab_size() < pieces:
            raise VocabularyNotReached(wanted=vocabulary, reached=inner.get_vocab_size() + len(special))
        inner.add_special_tokens([AddedToken(text, special=True, normalized=False) for text in special])
        return cls(inner.to_str())

    def save(self, folder: Path) -> None:
        """Write it whole. Raises NoRoom."""
        write_whole(folder / NAME, self._content.encode())

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of each of ``texts``; halves of characters become a question mark, as in the engine."""
        whole = list(map(_whole, texts))
        return [found.ids for found in self._inner.encode_batch_fast(whole, add_special_tokens=False)]

    def decode(self, ids: Sequence[int]) -> str:
        """The text of ``ids``, special tokens as their texts; bytes that are no character become U+FFFD."""
        return str(self._inner.decode(ids, skip_special_tokens=False))

    def id_of(self, text: str) -> int:
        """The id of one of ``special``. Raises KeyError."""
        found = self._inner.token_to_id(text)
        if found is None:
            raise KeyError(text)
        return int(found)

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """Every token in the order of its id, as the file has it: a letter for each byte."""
        return tuple(str(self._inner.id_to_token(number)) for number in range(self.vocabulary))

    @cached_property
    def byte_lengths(self) -> npt.NDArray[np.int64]:
        """How many bytes of text each token stands for, none for a special one: shape [vocabulary]."""
        lengths = [len(text) for text in self.texts]
        lengths[self.vocabulary - len(self.special) :] = [0] * len(self.special)
        return np.array(lengths, dtype=np.int64)

    def as_json(self) -> dict[str, Any]:
        """What a report says of it."""
        return {"vocabulary": self.vocabulary, "special": list(self.special), "pre": PRE, "sha256": self.sha256}


def _whole(text: str) -> str:
    """The text with a question mark for each half of a character, of which there are no bytes."""
    return text.encode(errors="replace").decode()
