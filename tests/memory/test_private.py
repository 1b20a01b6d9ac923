"""What was trained for one member alone: in force over one snapshot, in their part of the home, gone with them."""

from __future__ import annotations

import errno
import os
from dataclasses import replace
from pathlib import Path

import pytest

from configs.home import Home
from configs.settings import Settings
from memory.errors import (
    ArtifactDamaged,
    ArtifactMissing,
    DatabaseBusy,
    MemberFilesLeft,
    MemberUnknown,
    NoPrivateAdapter,
    RunAlreadyRunning,
    RunUnknown,
)
from memory.household import Household, MemberMemory
from memory.manifests import Adapter
from memory.members import Member
from memory.private import PrivateRecord, kept_apart
from memory.runlog import read
from memory.runs import BLAME, LESSONS, PRIVATE, run_folder
from memory.snapshots import Snapshot

GATE = {"decision": "SHIP", "checks": [], "reasons": []}
SECRET = "xylophonium"  # noqa: S105 - a word to look for, no password


@pytest.fixture
def v0(household: Household) -> Snapshot:
    return household.snapshots.ensure_base("starter", "0" * 64)


def family_learns(household: Household, content: bytes) -> Snapshot:
    digest = household.artifacts.put_bytes(content)
    made = household.snapshots.create(
        "starter", "0" * 64, adapters=[Adapter(digest)], parent="v0", run=None, reason="training", gate=None
    )
    return household.snapshots.promote(made.id, "Ana", "test")


def keep(memory: MemberMemory, tmp_path: Path, content: bytes, over: Snapshot, run: str = "r0001") -> PrivateRecord:
    (tmp_path / "adapter.gguf").write_bytes(content)
    return memory.private.promote(tmp_path / "adapter.gguf", over, run, GATE)


def test_it_answers_only_over_the_base_and_the_adapters_that_it_was_trained_over(
    household: Household, memory: MemberMemory, v0: Snapshot, tmp_path: Path
) -> None:
    first = keep(memory, tmp_path, b"one", v0)
    assert memory.private.answering(v0) == first
    v1 = family_learns(household, b"family")
    assert (memory.private.answering(v1), memory.private.current()) == (None, first)
    second = keep(memory, tmp_path, b"two", v1)
    assert memory.private.answering(v1) == second
    assert memory.private.answering(v0) is None
    replaced = Snapshot(**{**vars(v1), "base_sha256": "1" * 64})
    assert memory.private.answering(replaced) is None


def test_rolling_back_goes_to_what_was_in_force_before_and_in_the_end_to_none(
    memory: MemberMemory, v0: Snapshot, tmp_path: Path
) -> None:
    first = keep(memory, tmp_path, b"one", v0)
    second = keep(memory, tmp_path, b"two", v0)
    assert memory.private.rollback() == (second, first)
    third = keep(memory, tmp_path, b"three", v0)
    assert [record.id for record in memory.private.list()] == ["p3", "p2", "p1"]
    assert memory.private.rollback() == (third, first)
    assert memory.private.rollback() == (first, None)
    assert memory.private.answering(v0) is None
    with pytest.raises(NoPrivateAdapter):
        memory.private.rollback()


def taught(memory: MemberMemory, run: str) -> str:
    """A private lesson that a run trains."""
    lesson = memory.lessons.add([{"role": "user", "content": f"Where in {run}?"}], f"the {SECRET} box")
    memory.private.give(run, [lesson.id])
    return lesson.id


def test_rolling_back_passes_over_what_knows_a_lesson_that_was_taken_back(
    memory: MemberMemory, v0: Snapshot, tmp_path: Path
) -> None:
    lessons = [taught(memory, run) for run in ("r0001", "r0002", "r0003")]
    first, _, third = [keep(memory, tmp_path, run.encode(), v0, run) for run in ("r0001", "r0002", "r0003")]
    memory.lessons.withdraw(lessons[1])
    assert memory.private.rollback() == (third, first)
    memory.lessons.restore(lessons[1])
    fourth = keep(memory, tmp_path, b"four", v0, "r0004")
    memory.lessons.withdraw(lessons[0])
    assert memory.private.rollback() == (fourth, None)


def test_what_is_in_force_can_be_left_for_none(memory: MemberMemory, v0: Snapshot, tmp_path: Path) -> None:
    keep(memory, tmp_path, b"one", v0)
    second = keep(memory, tmp_path, b"two", v0)
    assert memory.private.leave() == second
    assert memory.private.current() is memory.private.leave() is None


def test_an_adapter_that_is_not_whole_is_told_from_one_that_is(
    home: Home, memory: MemberMemory, v0: Snapshot, tmp_path: Path
) -> None:
    record = keep(memory, tmp_path, b"one", v0)
    path = memory.private.path(record.sha256)
    path.chmod(0o600)
    path.write_bytes(b"two")
    with pytest.raises(ArtifactDamaged):
        memory.private.path(record.sha256)
    path.unlink()
    with pytest.raises(ArtifactMissing):
        memory.private.path(record.sha256)


def test_nothing_of_it_is_anothers(
    home: Home, household: Household, memory: MemberMemory, other: MemberMemory, v0: Snapshot, tmp_path: Path
) -> None:
    record = keep(memory, tmp_path, SECRET.encode(), v0)
    run = household.runs.create(PRIVATE, member=memory.member.id)
    memory.private.give(run.id, ["lesson"])
    assert other.private.current() is None
    assert other.private.lessons(run.id) == frozenset()
    assert household.runs.list(other.member.id) == household.runs.list() == []
    assert household.runs.latest(other.member.id) is None
    with pytest.raises(RunUnknown):
        household.runs.seen(run.id, other.member.id)
    assert household.runs.seen(run.id, memory.member.id) == household.runs.latest(memory.member.id) == run
    own = home.of_member(memory.member.id).root
    assert memory.private.path(record.sha256).is_relative_to(own)
    assert run_folder(home, run).is_relative_to(own)
    holding = [path for path in home.root.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]
    assert holding == [memory.private.path(record.sha256)]


def test_the_run_before_is_of_the_same_kind_for_the_same(household: Household, ana: Member, bruno: Member) -> None:
    for_whom = (None, ana.id, bruno.id, ana.id, None)
    runs = []
    for member in for_whom:
        for kind in (LESSONS, BLAME):
            run = household.runs.create(kind, member=member)
            household.runs.finish(run.id, "held")
            runs += [run] if kind == LESSONS else []
    before = [household.runs.before(run) for run in runs]
    assert [found and found.id for found in before] == [None, None, None, runs[1].id, runs[0].id]


def test_size_and_time_are_known_without_opening_a_members_file(
    home: Home, household: Household, memory: MemberMemory, other: MemberMemory, v0: Snapshot, tmp_path: Path
) -> None:
    assert kept_apart(home, memory.member.id) is None
    keep(memory, tmp_path, b"12345", v0)
    keep(memory, tmp_path, b"678", v0)
    household.close()
    home.member_db(memory.member.id).write_bytes(b"nobody reads this")
    found = kept_apart(home, memory.member.id)
    assert found is not None
    assert found.bytes == 8
    assert kept_apart(home, other.member.id) is None


def test_it_leaves_with_its_member_but_not_while_it_is_trained(
    home: Home, household: Household, memory: MemberMemory, bruno: Member, v0: Snapshot, tmp_path: Path
) -> None:
    keep(memory, tmp_path, b"one", v0)
    run = household.runs.create(PRIVATE, member=memory.member.id)
    with pytest.raises(RunAlreadyRunning):
        household.members.remove("Ana")
    household.runs.finish(run.id, "stopped")
    household.members.remove("Ana")
    assert not home.of_member(memory.member.id).root.exists()
    with pytest.raises(RunUnknown):
        household.runs.get(run.id)
    assert [member.id for member in household.members.list()] == [bruno.id]


def test_a_removal_that_cannot_delete_a_file_keeps_nobody_out_and_is_finished_by_a_later_start(
    home: Home, household: Household, memory: MemberMemory, bruno: Member, v0: Snapshot, tmp_path: Path,
    settings: Settings, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    keep(memory, tmp_path, b"one", v0)
    memory.facts.add(SECRET, visibility="shared")
    own = home.of_member(memory.member.id).root

    def refused(path: Path) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    with monkeypatch.context() as patched:
        patched.setattr("shutil.rmtree", refused)
        with pytest.raises(MemberFilesLeft) as told:
            household.members.remove("Ana")
        assert told.value.facts["path"] == str(own)
        with Household.open(home, settings.memory) as opened:
            assert opened.members.list() == [replace(bruno, admin=True)]
            assert opened.member(bruno.id).facts.list() == []
            assert opened.members.add("Ana", "es").id != memory.member.id
        assert own.exists()
    with Household.open(home, settings.memory) as opened:
        assert not own.exists()
        assert [member.name for member in opened.members.list()] == ["Bruno", "Ana"]


def test_no_run_begins_between_the_look_for_one_and_the_removal_nor_after_it(
    home: Home, household: Household, ana: Member, bruno: Member, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    hasty = settings.memory.model_copy(update={"busy_seconds": 0.05})
    with Household.open(home, hasty) as another:

        def looked() -> None:
            with pytest.raises(DatabaseBusy):
                another.runs.create(PRIVATE, member=ana.id)

        monkeypatch.setattr(household.members, "_running", looked)
        household.members.remove("Ana")
        with pytest.raises(MemberUnknown):
            another.runs.create(PRIVATE, member=ana.id)
        assert another.runs.list(ana.id) == []


def test_a_private_lesson_that_is_taken_back_leaves_the_runs_that_trained_it(
    home: Home, household: Household, memory: MemberMemory, other: MemberMemory
) -> None:
    lesson = memory.lessons.add([{"role": "user", "content": "Where?"}], f"the {SECRET} box")
    shared = other.lessons.add([{"role": "user", "content": "Who?"}], f"{SECRET} too", visibility="shared")
    run = household.runs.create(PRIVATE, member=memory.member.id)
    memory.private.give(run.id, [lesson.id])
    household.runs.give(run.id, [shared.id])
    inputs = run_folder(home, run) / "inputs.json"
    inputs.parent.mkdir(parents=True)
    inputs.write_text(f'{{"lessons": [{{"id": "{lesson.id}"}}], "known": [{{"id": "{shared.id}"}}]}}')
    household.runs.finish(run.id, "shipped")
    assert household.forget_private(memory.member.id) == household.forget_withdrawn() == ()
    memory.lessons.withdraw(lesson.id)
    assert memory.private.taken_back() == {run.id: {lesson.id}}
    assert household.forget_private(memory.member.id) == (run.id,)
    assert (lesson.id in inputs.read_text(), shared.id in inputs.read_text()) == (False, True)
    other.lessons.withdraw(shared.id)
    assert household.forget_withdrawn("another's lesson") == (run.id,)
    assert shared.id not in inputs.read_text()
    events, _ = read(inputs.parent)
    assert [(event.facts or {})["lessons"] for event in events] == [[lesson.id], [shared.id]]


def test_only_private_lessons_and_thumbs_are_for_it(memory: MemberMemory, other: MemberMemory) -> None:
    question = [{"role": "user", "content": "Where?"}]
    own = memory.lessons.add(question, "here")
    thumb = memory.lessons.add([{"role": "user", "content": "Who?"}], "I", source="thumb")
    memory.lessons.add(question, "there", visibility="shared")
    other.lessons.add(question, "elsewhere")
    withdrawn = memory.lessons.add(question, "nowhere")
    memory.lessons.withdraw(withdrawn.id)
    assert memory.private.corrections() == [own]
    assert memory.private.ratings() == [thumb]


def test_a_member_has_none_until_they_ask_for_it(household: Household, ana: Member, bruno: Member) -> None:
    assert not ana.private_training
    assert household.members.set_private_training("Ana", True).private_training
    assert [member.private_training for member in household.members.list()] == [True, False]
    assert not household.members.set_private_training("Ana", False).private_training
