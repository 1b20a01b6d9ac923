"""Vectors in a database file: the nearest of many are found by their signs, as they are by all they hold."""

from __future__ import annotations

import numpy as np
import pytest

from memory.household import MemberMemory
from memory.meaning.vector_index import VectorIndex

NUMBERS, MANY = 384, 6000


@pytest.fixture
def filled(memory: MemberMemory) -> tuple[VectorIndex, np.ndarray[tuple[int, int], np.dtype[np.float32]]]:
    """An index of many vectors that lie in clumps, and the vectors by item."""
    chance = np.random.default_rng(3)
    clumps = chance.normal(size=(60, NUMBERS))
    vectors = (clumps[chance.integers(0, 60, MANY)] + chance.normal(size=(MANY, NUMBERS))).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    index = memory.recall._places["private"].index
    scaled = np.round(vectors * (127 / np.abs(vectors).max(axis=1, keepdims=True))).astype(np.int8)
    with index.database.transaction():
        index.database.run_many("INSERT INTO vectors_due VALUES ('fact', ?)", [(item,) for item in range(MANY)])
        for item in range(MANY):
            index.vectors.put("fact", item, scaled[item].tobytes(), NUMBERS)
    return index.vectors, vectors


def test_the_nearest_of_many_are_found(
    filled: tuple[VectorIndex, np.ndarray[tuple[int, int], np.dtype[np.float32]]],
) -> None:
    index, vectors = filled
    chance = np.random.default_rng(4)
    right = 0
    for item in chance.integers(0, MANY, 40):
        asked = vectors[item] + chance.normal(size=NUMBERS).astype(np.float32) * 0.03
        asked /= np.linalg.norm(asked)
        found = index.nearest("fact", asked, 10)
        likeness = vectors @ asked
        assert max(found, key=lambda each: found[each]) == int(likeness.argmax())
        assert all(abs(found[each][0] - likeness[each]) < 0.01 for each in found)
        right += len(set(found) & set(np.argsort(-likeness)[:10].tolist()))
    assert right >= 0.9 * 400


def test_what_was_removed_since_it_was_read_is_not_found(
    filled: tuple[VectorIndex, np.ndarray[tuple[int, int], np.dtype[np.float32]]], memory: MemberMemory
) -> None:
    index, vectors = filled
    assert 7 in index.nearest("fact", vectors[7], 5)
    memory.recall._places["private"].index.remove("fact", 7)
    assert 7 not in index.nearest("fact", vectors[7], 5)
