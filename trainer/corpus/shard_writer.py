"""Writing shards: each file whole, and a journal of those that are, so that what was interrupted goes on after them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from trainer.corpus.index import KINDS, NAME, SPLITS, Index, Shard, Split, SplitIndex, kind_for
from trainer.pipeline.artifacts import digest_of
from trainer.room import room_at, write_whole

JOURNAL = "progress.json"


@dataclass
class _Row:
    """One split. ``documents`` and ``bytes``: of those whose every token is in a whole file; ``begun``: how many tokens
    of the next document are.
    """

    documents: int = 0
    bytes: int = 0
    begun: int = 0
    shards: list[Shard] = field(default_factory=list)


@dataclass
class _Waiting:
    """What of a split is in no file yet. ``skip``: documents that are in files already and are told of once more."""

    skip: int = 0
    pieces: list[npt.NDArray[Any]] = field(default_factory=list)
    tokens: int = 0
    documents: int = 0
    bytes: int = 0


class ShardWriter:
    """Documents into ``folder``, ``shard_tokens`` tokens a file; all documents are told of in the same order each time.

    ``vocabulary``: how many entries it has. ``end``: the token that follows each document. ``tokenizer``: its SHA-256.
    Raises NoRoom.
    """

    def __init__(self, folder: Path, *, vocabulary: int, end: int, tokenizer: str, shard_tokens: int) -> None:
        self._folder, self._shard_tokens = folder, shard_tokens
        self._vocabulary, self._end, self._tokenizer = vocabulary, end, tokenizer
        self._dtype = KINDS[kind_for(vocabulary)]
        self._rows = self._taken_up()
        self._waiting = {split: _Waiting(skip=row.documents) for split, row in self._rows.items()}
        with room_at(folder):
            folder.mkdir(parents=True, exist_ok=True)

    def wants(self, split: Split) -> bool:
        """Whether the next document of ``split`` is to be added: not where its tokens are in whole files already."""
        waiting = self._waiting[split]
        if waiting.skip:
            waiting.skip -= 1
            return False
        return True

    def add(self, split: Split, tokens: npt.ArrayLike, size: int) -> None:
        """Add a document of ``size`` bytes of text. Raises NoRoom."""
        row, waiting = self._rows[split], self._waiting[split]
        piece = np.append(np.asarray(tokens, dtype=self._dtype), self._dtype.type(self._end))
        waiting.documents, waiting.bytes = waiting.documents + 1, waiting.bytes + size
        # The beginning of a document that a kill cut is in the last whole file.
        left = piece[row.begun :] if not waiting.pieces else piece
        waiting.pieces.append(left)
        waiting.tokens += len(left)
        while waiting.tokens >= self._shard_tokens:
            begun = len(piece) - (waiting.tokens - self._shard_tokens)
            self._write(split, self._shard_tokens, 0 if begun == len(piece) else begun, size)

    def finish(self) -> Index:
        """Write what is left, then the index. Raises NoRoom."""
        for split, waiting in self._waiting.items():
            if waiting.tokens:
                self._write(split, waiting.tokens, 0, 0)
        splits = {
            split: SplitIndex(sum(shard.tokens for shard in row.shards), row.documents, row.bytes, tuple(row.shards))
            for split, row in self._rows.items()
        }
        index = Index(kind_for(self._vocabulary), self._vocabulary, self._end, self._tokenizer, splits)
        write_whole(self._folder / NAME, json.dumps(index.as_json(), indent=1).encode())
        with room_at(self._folder):
            (self._folder / JOURNAL).unlink(missing_ok=True)
            # What is left of a longer corpus that was there before.
            written = {self._folder / shard.file for row in self._rows.values() for shard in row.shards}
            for path in set(self._folder.glob("*.bin")) - written:
                path.unlink()
        return index

    def _write(self, split: Split, count: int, begun: int, size: int) -> None:
        """Write ``count`` tokens; of the last document, of ``size`` bytes, ``begun`` are in files then (0: all)."""
        row, waiting = self._rows[split], self._waiting[split]
        joined = np.concatenate(waiting.pieces)
        content, left = joined[:count].tobytes(), joined[count:]
        path = self._folder / f"{split}-{len(row.shards):05d}.bin"
        write_whole(path, content)
        row.shards.append(Shard(path.name, count, hashlib.sha256(content).hexdigest()))
        row.documents += waiting.documents - bool(begun)
        row.bytes += waiting.bytes - (size if begun else 0)
        row.begun = begun
        waiting.documents, waiting.bytes = (1, size) if begun else (0, 0)
        waiting.pieces, waiting.tokens = ([left] if len(left) else []), len(left)
        write_whole(self._folder / JOURNAL, json.dumps(self._journal()).encode())

    def _journal(self) -> dict[str, Any]:
        """What was asked for, and what is in whole files."""
        rows = {split: asdict(row) for split, row in self._rows.items()}
        asked = [self._vocabulary, self._end, self._tokenizer, self._shard_tokens]
        return {"asked": asked, "rows": rows}

    def _taken_up(self) -> dict[Split, _Row]:
        """What is in whole files already, or nothing where that was asked for otherwise."""
        try:
            told = json.loads((self._folder / JOURNAL).read_text(encoding="utf-8"))
            if told["asked"] == [self._vocabulary, self._end, self._tokenizer, self._shard_tokens]:
                return {split: _row(self._folder, told["rows"][split]) for split in SPLITS}
        except (OSError, ValueError, KeyError, TypeError):
            # Nothing was begun, or what is there cannot be gone on from: from the first document on.
            pass
        return {split: _Row() for split in SPLITS}


def _row(folder: Path, told: Mapping[str, Any]) -> _Row:
    """Raises OSError, ValueError where a file is not what the journal says."""
    shards = [Shard(each["file"], int(each["tokens"]), each["sha256"]) for each in told["shards"]]
    for shard in shards:
        if digest_of(folder / shard.file) != shard.sha256:
            raise ValueError(shard.file)
    return _Row(int(told["documents"]), int(told["bytes"]), int(told["begun"]), shards)
