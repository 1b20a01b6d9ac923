"""The index of a folder of shards: what was written, so that whoever reads can tell whether it still is that.

``index.json`` is written last, so that a folder which has one is whole.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from configs.pretraining.corpus import MOST_IN_16_BITS
from trainer.corpus.errors import ShardsBroken, ShardsMissing

Split = Literal["train", "validation"]
SPLITS: tuple[Split, ...] = ("train", "validation")
NAME = "index.json"
FORM = 1  # of index.json
KINDS: dict[str, np.dtype[Any]] = {"uint16": np.dtype("<u2"), "uint32": np.dtype("<u4")}


@dataclass(frozen=True)
class Shard:
    """One file of token ids, little-endian, in a row. ``sha256``: of its bytes."""

    file: str
    tokens: int
    sha256: str


@dataclass(frozen=True)
class SplitIndex:
    """``bytes``: of the documents' text in UTF-8, the end tokens left out."""

    tokens: int
    documents: int
    bytes: int
    shards: tuple[Shard, ...]


@dataclass(frozen=True)
class Index:
    """``end``: the token that follows each document. ``tokenizer``: the SHA-256 of the tokenizer's file."""

    kind: str
    vocabulary: int
    end: int
    tokenizer: str
    splits: Mapping[Split, SplitIndex]

    @property
    def dtype(self) -> np.dtype[Any]:
        return KINDS[self.kind]

    def as_json(self) -> dict[str, Any]:
        """For ``index_from_json``."""
        splits = {name: asdict(split) for name, split in self.splits.items()}
        return {
            "form": FORM,
            "dtype": self.kind,
            "vocabulary": self.vocabulary,
            "end": self.end,
            "tokenizer": self.tokenizer,
            "splits": splits,
        }


def kind_for(vocabulary: int) -> str:
    """The type of number that holds every id of a vocabulary of so many entries."""
    return "uint16" if vocabulary <= MOST_IN_16_BITS else "uint32"


def index_from_json(told: Mapping[str, Any]) -> Index:
    """Raises KeyError, TypeError, ValueError for anything but what ``as_json`` gave."""
    if told["form"] != FORM:
        raise ValueError(f"form {told['form']}")
    splits: dict[Split, SplitIndex] = {}
    for name in SPLITS:
        split = told["splits"][name]
        shards = tuple(_shard(each) for each in split["shards"])
        splits[name] = SplitIndex(int(split["tokens"]), int(split["documents"]), int(split["bytes"]), shards)
        if sum(shard.tokens for shard in shards) != splits[name].tokens:
            raise ValueError(f"the tokens of {name}")
    if told["dtype"] != kind_for(int(told["vocabulary"])) or not 0 <= told["end"] < told["vocabulary"]:
        raise ValueError("the vocabulary")
    return Index(told["dtype"], int(told["vocabulary"]), int(told["end"]), str(told["tokenizer"]), splits)


def _shard(told: Mapping[str, Any]) -> Shard:
    shard = Shard(str(told["file"]), int(told["tokens"]), str(told["sha256"]))
    if Path(shard.file).name != shard.file or shard.tokens < 1:
        raise ValueError(f"the shard {shard.file!r}")
    return shard


def read_index(folder: Path) -> Index:
    """The index of ``folder``. Raises ShardsMissing, ShardsBroken."""
    path = folder / NAME
    try:
        return index_from_json(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError as error:
        raise ShardsMissing(path=str(folder)) from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ShardsBroken(path=str(path), reason="it is no index of shards") from error
