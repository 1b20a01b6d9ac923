"""What stages made is found again by what it depends on, only whole, and goes with the lessons that it tells of."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from configs.home import Home
from memory.artifacts import ArtifactStore
from memory.made import MadeRecords

KEY, OTHER = "ab" * 32, "cd" * 32


@pytest.fixture
def store(home: Home) -> ArtifactStore:
    return ArtifactStore(home, clock=time.time, unfinished_seconds=3600)


@pytest.fixture
def records(home: Home, store: ArtifactStore) -> MadeRecords:
    return MadeRecords(home, store)


def keep(records: MadeRecords, key: str, content: bytes, *lessons: str, run: str = "r0001") -> str:
    made = records.keep(key, "train", run, {"adapter": content, "report.json": b"{}"}, lessons)
    return made.files["adapter"]


def nothing() -> frozenset[str]:
    return frozenset()


def test_what_was_kept_is_found_by_its_key_alone(records: MadeRecords, tmp_path: Path) -> None:
    (tmp_path / "adapter").write_bytes(b"weights")
    kept = records.keep(KEY, "train", "r0001", {"adapter": tmp_path / "adapter", "report.json": b"{}"}, ["toby"])
    assert records.find(KEY) == kept
    assert (kept.stage, kept.run, kept.lessons, set(kept.files)) == (
        "train", "r0001", ("toby",), {"adapter", "report.json"},
    )  # fmt: skip
    assert records.find(OTHER) is None


def test_one_flipped_bit_and_nothing_was_made(home: Home, records: MadeRecords) -> None:
    path = home.artifact(keep(records, KEY, b"weights"))
    path.chmod(0o600)
    path.write_bytes(b"weightr")
    assert records.find(KEY) is None
    keep(records, KEY, b"weights")
    assert records.find(KEY) is not None


def test_a_file_that_is_gone_and_nothing_was_made(store: ArtifactStore, records: MadeRecords) -> None:
    store.remove(keep(records, KEY, b"weights"))
    assert records.find(KEY) is None


@pytest.mark.parametrize("torn", [b"", b"{", b"[]", b'{"stage": "train"}'])
def test_a_record_that_cannot_be_read_is_none(home: Home, records: MadeRecords, torn: bytes) -> None:
    keep(records, KEY, b"weights")
    (home.store / "made" / KEY[:2] / f"{KEY[2:]}.json").write_bytes(torn)
    assert records.find(KEY) is None


def test_with_a_lesson_goes_all_that_tells_of_it_and_nothing_else(home: Home, records: MadeRecords) -> None:
    gone, stays = keep(records, KEY, b"of toby", "toby", "key"), keep(records, OTHER, b"of the key", "key")
    records.forget(["toby"], [], nothing)
    assert records.find(KEY) is None
    assert not home.artifact(gone).exists()
    assert home.artifact(stays).exists()
    # What the report said is the same in both: the other one is made anew.
    assert records.find(OTHER) is None


def test_what_a_run_made_that_learned_it_in_another_way_goes_as_well(records: MadeRecords) -> None:
    keep(records, KEY, b"went on from there", run="r0007")
    records.forget([], ["r0007"], nothing)
    assert records.find(KEY) is None


def test_what_a_snapshot_needs_stays(home: Home, records: MadeRecords) -> None:
    served = keep(records, KEY, b"served", "toby")
    records.forget(["toby"], [], lambda: {served})
    assert home.artifact(served).exists()
    assert records.find(KEY) is None
