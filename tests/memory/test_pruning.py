"""What no kept snapshot reaches leaves the store; what is needed, or may be about to be, stays, and is verified."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from configs.home import Home
from memory import runlog
from memory.artifacts import Stored
from memory.errors import ArtifactMissing, NothingToRollBack, SnapshotPruned
from memory.household import Household, MemberMemory
from memory.manifests import Adapter
from memory.pruning import Pruning
from memory.runs import BLAME, LESSONS
from memory.snapshots import Snapshot
from tests.memory.conftest import TurnedClock

BASE = "ab" * 32
DAY = 86_400.0


def nothing_more(_snapshot: Snapshot) -> tuple[str, ...]:
    return ()


class House:
    """A household whose store is as old as a test wants it to be."""

    def __init__(self, household: Household, clock: TurnedClock) -> None:
        self.household, self.clock = household, clock
        self.snapshots, self.pruner = household.snapshots, household.pruner
        self.snapshots.ensure_base("base", BASE)

    def train(self, weights: bytes, *lessons: str, promote: bool = True) -> Snapshot:
        """A night: a run that trains ``lessons`` makes a snapshot of ``weights`` that answers from then on."""
        run = self.household.runs.create(LESSONS)
        self.household.runs.give(run.id, lessons)
        parent, adapter = self.snapshots.current().id, self.household.artifacts.put_bytes(weights)
        made = self.snapshots.create(
            "base", BASE, adapters=[Adapter(adapter)], parent=parent, run=run.id, reason="training", gate=None
        )
        if promote:
            self.snapshots.promote(made.id, "night", "passed")
        self.household.runs.finish(run.id, "shipped", snapshot=made.id)
        return made

    def age(self, days: float) -> None:
        """Let all that is in the store have been put there so long ago."""
        for stored in self.household.artifacts.objects():
            at = self.clock.now - days * DAY
            os.utime(self.household.artifacts.path(stored.digest), (at, at))

    def prune(self, kept: int) -> Pruning:
        self.age(30)
        return self.pruner.prune(nothing_more, kept=kept)

    def there(self) -> set[str]:
        """The snapshots that can answer."""
        return {each.id for each in self.snapshots.list() if each.pruned_at is None}


@pytest.fixture
def house(household: Household, clock: TurnedClock) -> House:
    return House(household, clock)


def test_what_is_neither_new_nor_a_step_back_goes_and_its_record_stays(house: House) -> None:
    made = [house.train(name.encode()) for name in ("one", "two", "three", "four")]
    done = house.prune(1)
    assert [fate.snapshot.id for fate in done.going] == ["v2", "v1"]
    assert {fate.snapshot.id: fate.why for fate in done.kept} == {"v4": "current", "v3": "rollback", "v0": "base"}
    assert {stored.digest for stored in done.objects} == {made[1].adapters[0].sha256, made[0].adapters[0].sha256}
    assert [fate.bytes for fate in done.going] == [3, 3]
    with pytest.raises(ArtifactMissing):
        house.household.artifacts.path(made[0].adapters[0].sha256)
    kept = house.snapshots.get("v1")
    assert (kept.reason, kept.run, kept.pruned_at is not None) == ("training", "r0001", True)
    assert house.snapshots.whole("v4") == house.snapshots.current()


def test_the_manifests_of_what_a_kept_snapshot_came_from_stay_and_those_of_a_dropped_branch_go(house: House) -> None:
    house.train(b"one")
    aside = house.train(b"aside", promote=False)
    house.train(b"two")
    house.train(b"three")
    done = house.prune(1)
    artifacts = house.household.artifacts
    for snapshot in house.snapshots.list():
        if snapshot.id != aside.id:
            artifacts.verify(snapshot.digest)
    assert aside.digest in {stored.digest for stored in done.objects}


def test_a_dry_run_says_what_would_go_and_changes_nothing(house: House) -> None:
    for name in ("one", "two", "three"):
        house.train(name.encode())
    house.age(30)
    before = house.household.artifacts.objects()
    planned = house.pruner.plan(nothing_more, kept=1)
    assert sum(stored.bytes for stored in planned.objects) == len("one")
    assert house.household.artifacts.objects() == before
    assert house.there() == {"v0", "v1", "v2", "v3"}
    assert [stored.digest for stored in house.prune(1).objects] == [stored.digest for stored in planned.objects]


def test_a_rollback_passes_over_what_was_given_up_and_cannot_be_sent_there(house: House) -> None:
    for name in ("one", "two", "three"):
        house.train(name.encode())
    house.household.runs.give("r0002", ["taken back"])
    house.prune(1)
    assert house.there() == {"v0", "v1", "v3"}
    assert house.snapshots.named("previous").id == "v1"
    with pytest.raises(SnapshotPruned):
        house.snapshots.rollback("Ana", "?", to="v2")
    assert house.snapshots.current().id == "v3"
    assert [house.snapshots.rollback("Ana", "worse").id for _ in range(2)] == ["v1", "v0"]
    with pytest.raises(NothingToRollBack):
        house.snapshots.rollback("Ana", "worse")


def test_what_learned_a_withdrawn_lesson_goes_first_and_is_named_where_it_stays(
    house: House, memory: MemberMemory
) -> None:
    secret = memory.lessons.add([{"role": "user", "content": "¿Clave?"}], "Kaspar.", visibility="shared")
    house.train(b"first")
    house.train(b"knows it", secret.id)
    house.train(b"knows it too", secret.id)
    assert house.pruner.plan(nothing_more).going == ()
    memory.lessons.withdraw(secret.id)
    done = house.prune(5)
    assert [(fate.snapshot.id, fate.taken_back) for fate in done.going] == [("v2", frozenset([secret.id]))]
    assert [fate.snapshot.id for fate in done.kept if fate.taken_back] == ["v3"]
    house.train(b"without it")
    done = house.prune(1)
    assert [fate.snapshot.id for fate in done.going] == ["v3"]
    assert house.snapshots.rollback_targets()[0].id == "v1"


def test_what_learned_a_withdrawn_lesson_is_removed_before_anything_else(house: House) -> None:
    house.train(b"knows it", "taken back")
    for name in ("one", "two", "three"):
        house.train(name.encode())
    house.household.artifacts.put_bytes(b"nobody knows whose")
    done = house.prune(1)
    assert [fate.snapshot.id for fate in done.going] == ["v1", "v2"]
    assert [stored.bytes for stored in done.objects] == [len("knows it"), len("one"), len("nobody knows whose")]


def test_what_was_just_stored_stays_since_somebody_may_be_about_to_need_it(house: House, clock: TurnedClock) -> None:
    fresh = house.household.artifacts.put_bytes(b"of a training that is not over")
    house.age(0.9)
    done = house.pruner.prune(nothing_more)
    assert [stored.digest for stored in done.young] == [fresh]
    house.age(1.1)
    assert [stored.digest for stored in house.pruner.prune(nothing_more).objects] == [fresh]


def test_weights_that_are_given_up_go_at_once_unless_a_training_may_come_to_the_same(house: House) -> None:
    weights = [house.train(name.encode()).adapters[0].sha256 for name in ("one", "two", "three")]
    run = house.household.runs.create(LESSONS)
    waiting = house.pruner.prune(nothing_more, kept=1)
    assert ([fate.snapshot.id for fate in waiting.going], waiting.objects) == (["v1"], ())
    assert weights[0] in {stored.digest for stored in waiting.young}
    house.household.runs.finish(run.id, "held")
    assert [stored.digest for stored in house.pruner.prune(nothing_more, kept=1).objects] == weights[:1]


def test_what_is_stored_again_while_it_is_removed_stays(house: House, clock: TurnedClock) -> None:
    artifacts = house.household.artifacts
    digest = artifacts.put_bytes(b"twice")
    house.age(30)
    (listed,) = [stored for stored in artifacts.objects() if stored.digest == digest]
    assert artifacts.put_bytes(b"twice") == digest
    assert artifacts.remove_listed([listed]) == []
    artifacts.verify(digest)
    house.age(30)
    assert artifacts.remove_listed([Stored(digest, listed.bytes, listed.stored_at)]) != []


@pytest.mark.parametrize("kind", [LESSONS, BLAME])
def test_what_a_run_under_way_began_from_stays_also_after_it_was_rolled_back(
    house: House, home: Home, kind: str
) -> None:
    house.train(b"one")
    held = house.household.runs.create(LESSONS)
    house.household.runs.finish(held.id, "held")
    if kind == BLAME:
        house.snapshots.rollback("Ana", "worse")
    run = house.household.runs.create(kind)
    if kind == BLAME:
        (home.runs / run.id).mkdir()
        runlog.append(home.runs / run.id, runlog.RunEvent(1.0, "run_started", facts={"blamed": held.id}))
    else:
        house.snapshots.rollback("Ana", "worse")
    for number in range(3):
        made = house.snapshots.create(
            "base", BASE, adapters=[Adapter(house.household.artifacts.put_bytes(bytes([number])))], parent="v0",
            run=None, reason="training", gate=None,
        )  # fmt: skip
        house.snapshots.promote(made.id, "Ana", "x")
    assert "v1" in {fate.snapshot.id for fate in house.prune(1).kept if fate.why == "running"}
    house.household.runs.finish(run.id, "done")
    house.prune(1)
    assert "v1" not in house.there()


def test_what_an_engine_serves_and_what_others_made_of_a_kept_snapshot_stays(house: House) -> None:
    for name in ("one", "two", "three", "four"):
        house.train(name.encode())
    merged = {name: house.household.artifacts.put_bytes(f"merged {name}".encode()) for name in ("v1", "v2", "v4")}
    house.age(30)
    done = house.pruner.prune(lambda each: [merged[each.id]] if each.id in merged else [], served=["v2"], kept=1)
    assert house.there() == {"v0", "v2", "v3", "v4"}
    assert merged["v1"] in {stored.digest for stored in done.objects}
    for name in ("v2", "v4"):
        house.household.artifacts.verify(merged[name])


def test_a_flipped_bit_and_a_missing_file_are_named_with_the_snapshots_that_need_them(house: House) -> None:
    gone = house.train(b"gone", promote=False)
    one, two = house.train(b"one"), house.train(b"two")
    artifacts = house.household.artifacts
    flipped, lost = artifacts.path(one.adapters[0].sha256), artifacts.path(two.digest)
    flip(flipped)
    flip(artifacts.path(gone.adapters[0].sha256))
    lost.unlink()
    found = house.pruner.unsound(house.pruner.plan(nothing_more, kept=1))
    assert {(wrong.path, wrong.problem, wrong.snapshots) for wrong in found} == {
        (str(flipped), "damaged", ("v2",)),
        (str(lost), "missing", ("v3",)),
    }


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[0] ^= 1
    path.chmod(0o600)
    path.write_bytes(content)


def test_a_prune_that_was_cut_off_after_its_records_is_finished_by_the_next(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two", "three"):
        house.train(name.encode())

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(type(house.household.artifacts), "remove_listed", die)
        with pytest.raises(KeyboardInterrupt):
            house.prune(1)
    assert house.there() == {"v0", "v2", "v3"}
    done = house.prune(1)
    assert (done.going, [stored.bytes for stored in done.objects]) == ((), [len("one")])


def test_a_members_own_store_is_left_alone(house: House, memory: MemberMemory, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / "own.gguf").write_bytes(name.encode())
        memory.private.promote(tmp_path / "own.gguf", house.snapshots.current(), "r0001", {})
    house.train(b"one")
    house.prune(1)
    for record in memory.private.list():
        memory.private.path(record.sha256)


def test_of_the_names_of_snapshots_two_move_with_them(house: House) -> None:
    house.train(b"one")
    house.train(b"two")
    assert [house.snapshots.named(name).id for name in ("v0", "current", "previous")] == ["v0", "v2", "v1"]
    house.snapshots.rollback("Ana", "worse")
    assert [house.snapshots.named(name).id for name in ("current", "previous")] == ["v1", "v0"]
