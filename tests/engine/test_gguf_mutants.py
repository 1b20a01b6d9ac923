"""A damaged header is refused by us, or llama.cpp can be given it: it never dies of it and never hangs."""

from __future__ import annotations

import shutil
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.engine.mutants import Fate, Header, fates

SEED, MUTANTS, CHILDREN = 2026, 300, 2
MANY_MUTANTS = 10_000
LONGEST_S = 5.0


def ends_of(starter: Path, folder: Path, count: int, seed: int) -> list[Fate]:
    """What becomes of ``count`` mutants of the starter, several children at a time."""
    header = Header(starter)
    with starter.open("rb") as file:
        changes = list(header.mutants(file.read(header.end), count, seed))
    copies = [folder / f"{number}.gguf" for number in range(CHILDREN)]
    for copy in copies:
        shutil.copyfile(starter, copy)
    with ThreadPoolExecutor(CHILDREN) as pool:
        shares = [changes[number::CHILDREN] for number in range(CHILDREN)]
        return [fate for ends in pool.map(lambda c, s: fates(c, s, LONGEST_S), copies, shares) for fate in ends]


@pytest.mark.timeout(600)
def test_three_hundred_mutated_headers_are_refused_or_harmless(starter: Path, tmp_path: Path) -> None:
    ends = ends_of(starter, tmp_path, MUTANTS, SEED)
    assert [fate for fate in ends if fate.end in ("died", "hung")] == []
    counted = Counter(fate.end for fate in ends)
    assert sum(counted.values()) == MUTANTS
    # The test says something only if both things happen often.
    assert counted["refused"] > MUTANTS // 10
    assert counted["loaded"] > MUTANTS // 10


@pytest.mark.soak
@pytest.mark.timeout(7200)
def test_ten_thousand_more_are_harmless_too(starter: Path, tmp_path: Path) -> None:
    ends = ends_of(starter, tmp_path, MANY_MUTANTS, SEED + 1)
    assert [fate for fate in ends if fate.end in ("died", "hung")] == []
