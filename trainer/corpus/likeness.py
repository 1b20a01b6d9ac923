"""Documents that are nearly the same: MinHash (Broder 1997), found by bands of it, held against all of it.

A document is the set of its pieces of some words in a row. The smallest value of each of many hash functions over that
set is equal in two documents as often as the sets are alike (Jaccard). Documents that share a whole band of such values
are compared; a byte of each value is kept for that (Li and König 2010, arXiv 0908.4171: b-bit minwise hashing).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from trainer.corpus.shuffled import keyed

Hashes = npt.NDArray[np.uint64]
# How surely two documents of just the asked likeness share a band.
SURE: Final = 0.95
_PIECES_AT_ONCE: Final = 4096
_WORD_STEP: Final = np.uint64(0x9E3779B97F4A7C15)
_EMPTY: Final = np.uint32(0xFFFFFFFF)
_FULL: Final = 0.6
_LAST_BYTE: Final = 1 / 256  # how often two different values have the same byte


@lru_cache(maxsize=1 << 18)
def _word(word: str) -> int:
    return keyed(word)


def bands_for(permutations: int, likeness: float) -> tuple[int, int]:
    """(bands, values in each): as many values as still find documents of that likeness surely: the fewest compared."""
    for values in range(permutations, 1, -1):
        bands = permutations // values
        if 1 - (1 - likeness**values) ** bands >= SURE:
            return bands, values
    return permutations, 1


def piece_hashes(words: list[str], length: int) -> Hashes:
    """A number for each ``length`` words in a row; for a shorter text, one for all of it."""
    codes = np.array([_word(word) for word in words], dtype=np.uint64)
    length = min(length, len(codes))
    rows = len(codes) - length + 1
    found = np.zeros(rows, dtype=np.uint64)
    for place in range(length):
        # Numbers of 64 bits, of which those that do not fit are meant to be lost.
        found = (found ^ codes[place : place + rows]) * _WORD_STEP
        found ^= found >> np.uint64(29)
    return np.unique(found)


class Signer:
    """``permutations`` hash functions, the same on every machine: multiply, add, and keep the upper half."""

    def __init__(self, permutations: int, shingle_words: int) -> None:
        self._length = shingle_words
        numbers = range(permutations)
        self._times = np.array([keyed("times", each) | 1 for each in numbers], dtype=np.uint64)
        self._plus = np.array([keyed("plus", each) for each in numbers], dtype=np.uint64)

    def sign(self, words: list[str]) -> npt.NDArray[np.uint32]:
        """The smallest value of each function over the pieces of ``words``, of which there is at least one."""
        pieces = piece_hashes(words, self._length)
        smallest = np.full(len(self._times), np.uint64(0xFFFFFFFFFFFFFFFF))
        for start in range(0, len(pieces), _PIECES_AT_ONCE):
            some = pieces[start : start + _PIECES_AT_ONCE, None] * self._times + self._plus
            np.minimum(smallest, some.min(axis=0), out=smallest)
        return (smallest >> np.uint64(32)).astype(np.uint32)


class Numbers:
    """Which document a number of 64 bits was first seen in: 12 bytes each, in open addressing."""

    def __init__(self, keys: Hashes | None = None, values: npt.NDArray[np.uint32] | None = None) -> None:
        self.keys = np.zeros(1 << 10, dtype=np.uint64) if keys is None else keys
        self.values = np.full(1 << 10, _EMPTY) if values is None else values
        self._held = int((self.values != _EMPTY).sum())

    def find(self, keys: Hashes) -> npt.NDArray[np.int64]:
        """The document of each of ``keys``, -1 where it was never seen."""
        found = np.full(len(keys), -1, dtype=np.int64)
        mask = np.uint64(len(self.keys) - 1)
        waiting, places = np.arange(len(keys)), self._places(keys)
        while len(waiting):
            values = self.values[places]
            here = self.keys[places] == keys[waiting]
            held = values != _EMPTY
            found[waiting[held & here]] = values[held & here]
            onward = held & ~here
            waiting, places = waiting[onward], (places[onward] + np.uint64(1)) & mask
        return found

    def add(self, keys: Hashes, document: int) -> None:
        """Note ``document`` for those of ``keys`` that were never seen."""
        fresh = np.unique(keys[self.find(keys) < 0])
        while (self._held + len(fresh)) > _FULL * len(self.keys):
            self._grow()
        self._put(fresh, np.full(len(fresh), document, dtype=np.uint32))

    def _places(self, keys: Hashes) -> Hashes:
        """Where each of ``keys`` is looked for first: its upper bits, once all of it has gone into them."""
        return (keys * _WORD_STEP) >> np.uint64(64 - (len(self.keys) - 1).bit_length())

    def _put(self, keys: Hashes, values: npt.NDArray[np.uint32]) -> None:
        mask = np.uint64(len(self.keys) - 1)
        waiting, places = np.arange(len(keys)), self._places(keys)
        while len(waiting):
            # Of several that want the same empty place, the first gets it.
            free = self.values[places] == _EMPTY
            _, first = np.unique(places, return_index=True)
            taken = np.zeros(len(places), dtype=bool)
            taken[first] = True
            taken &= free
            self.keys[places[taken]], self.values[places[taken]] = keys[waiting[taken]], values[waiting[taken]]
            waiting, places = waiting[~taken], (places[~taken] + np.uint64(1)) & mask
        self._held += len(keys)

    def _grow(self) -> None:
        held = self.values != _EMPTY
        keys, values = self.keys[held], self.values[held]
        size = 2 * len(self.keys)
        self.keys, self.values = np.zeros(size, dtype=np.uint64), np.full(size, _EMPTY)
        self._held = 0
        self._put(keys, values)


class Likeness:
    """The documents that were kept so far, and whether another one is like one of them.

    Memory for each document: its bands at 12 bytes in tables that are up to six tenths full, and a byte a permutation.
    """

    def __init__(self, permutations: int, likeness: float) -> None:
        self._bands, self._values = bands_for(permutations, likeness)
        self._likeness = likeness
        self.exact, self.bands = Numbers(), Numbers()
        self.bytes = np.zeros((16, permutations), dtype=np.uint8)
        self.count = 0

    def same(self, text: int) -> bool:
        """Whether a document with this number (64 bits of its text) was kept."""
        return bool(self.exact.find(np.array([text], dtype=np.uint64))[0] >= 0)

    def like(self, signature: npt.NDArray[np.uint32]) -> bool:
        """Whether a document that was kept is as like as asked, as far as its bytes tell."""
        candidates = np.unique(self.bands.find(self._keys(signature)))
        candidates = candidates[candidates >= 0]
        if not len(candidates):
            return False
        equal = (self.bytes[candidates] == signature.astype(np.uint8)).mean(axis=1)
        return bool(((equal - _LAST_BYTE) / (1 - _LAST_BYTE)).max() >= self._likeness)

    def keep(self, text: int, signature: npt.NDArray[np.uint32]) -> None:
        """Add a document."""
        if self.count == len(self.bytes):
            self.bytes = np.concatenate([self.bytes, np.zeros_like(self.bytes)])
        self.bytes[self.count] = signature.astype(np.uint8)
        self.exact.add(np.array([text], dtype=np.uint64), self.count)
        self.bands.add(self._keys(signature), self.count)
        self.count += 1

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """All that it knows, for ``take_up``."""
        return {
            "exact_keys": self.exact.keys,
            "exact_values": self.exact.values,
            "band_keys": self.bands.keys,
            "band_values": self.bands.values,
            "bytes": self.bytes[: self.count],
        }

    def take_up(self, arrays: dict[str, npt.NDArray[Any]]) -> None:
        """Go on from what ``arrays`` told."""
        self.exact = Numbers(arrays["exact_keys"], arrays["exact_values"])
        self.bands = Numbers(arrays["band_keys"], arrays["band_values"])
        self.count = len(arrays["bytes"])
        room = np.zeros((max(16, 2 * self.count), arrays["bytes"].shape[1]), dtype=np.uint8)
        room[: self.count] = arrays["bytes"]
        self.bytes = room

    def _keys(self, signature: npt.NDArray[np.uint32]) -> Hashes:
        """A number for each band."""
        used = signature[: self._bands * self._values].reshape(self._bands, self._values).astype(np.uint64)
        found = np.arange(self._bands, dtype=np.uint64)
        for place in range(self._values):
            found = (found ^ used[:, place]) * _WORD_STEP
            found ^= found >> np.uint64(29)
        return found
