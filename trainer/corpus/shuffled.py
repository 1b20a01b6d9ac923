"""An order of many things that takes no memory: the place of each is worked out when it is asked for.

A Feistel network with four rounds (Luby and Rackoff, 1988) permutes the numbers below a power of four; those that it
sends beyond the last thing are sent on until they are within (cycle walking: Black and Rogaway, 2002).
"""

from __future__ import annotations

import hashlib

import numpy as np
import numpy.typing as npt

ROUNDS = 4
Numbers = npt.NDArray[np.uint64]
# The finaliser of SplitMix64 (Steele, Lea and Flood, 2014).
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


def keyed(*what: int | str) -> int:
    """A number of 64 bits that ``what`` decides, the same on every machine."""
    told = ":".join(str(each) for each in what).encode()
    return int.from_bytes(hashlib.blake2b(told, digest_size=8).digest(), "little")


class Shuffled:
    """The numbers from 0 to ``count`` - 1 in an order that ``key`` decides; ``count`` is 1 or more."""

    def __init__(self, count: int, key: int) -> None:
        self._count = np.uint64(count)
        bits = max(1, -(-(count - 1).bit_length() // 2))
        self._bits, self._mask = np.uint64(bits), np.uint64((1 << bits) - 1)
        self._keys = [np.uint64(keyed(key, number)) for number in range(ROUNDS)]

    def at(self, places: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Which numbers are at ``places`` (0 to ``count`` - 1) of the order; the same shape."""
        found = self._round_trip(np.asarray(places, dtype=np.uint64))
        while (beyond := found >= self._count).any():
            found[beyond] = self._round_trip(found[beyond])
        return found.astype(np.int64)

    def _round_trip(self, numbers: Numbers) -> Numbers:
        left, right = numbers >> self._bits, numbers & self._mask
        for key in self._keys:
            left, right = right, left ^ (_mixed(right + key) & self._mask)
        return (left << self._bits) | right


def _mixed(numbers: Numbers) -> Numbers:
    # Numbers of 64 bits, of which those that do not fit are meant to be lost.
    numbers = (numbers ^ (numbers >> np.uint64(30))) * _MIX[0]
    numbers = (numbers ^ (numbers >> np.uint64(27))) * _MIX[1]
    return numbers ^ (numbers >> np.uint64(31))
