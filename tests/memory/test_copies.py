"""Copies of databases that others write to meanwhile."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import shutil
import sqlite3
import threading
import time
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from configs.home import Home
from configs.settings import Settings
from memory import copies
from memory.copies import one_moment, told_by
from memory.errors import DatabaseBusy, DatabaseReadOnly
from memory.household import Household, MemberMemory
from memory.manifests import Adapter
from memory.migrations import newer

COPIES, NOBODY = 20, 65534


def lessons_in(path: Path) -> int:
    with contextlib.closing(sqlite3.connect(path)) as opened:
        return int(opened.execute("SELECT count(*) FROM lessons").fetchone()[0])


def test_a_lesson_that_moves_between_two_files_meanwhile_is_in_one_of_the_copies(
    memory: MemberMemory, home: Home, tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading = copies._reading

    def slowly(path: Path, busy_seconds: float) -> AbstractContextManager[sqlite3.Connection]:
        time.sleep(0.01)  # in which a lesson would have moved several times
        return reading(path, busy_seconds)

    monkeypatch.setattr(copies, "_reading", slowly)
    lesson = memory.lessons.add([{"role": "user", "content": "¿Y el gato?"}], "Misu")
    ending = threading.Event()

    def moves() -> None:
        while not ending.is_set():
            memory.lessons.share(lesson.id)
            memory.lessons.unshare(lesson.id)

    mover = threading.Thread(target=moves)
    mover.start()
    found = []
    try:
        for number in range(COPIES):
            with one_moment(home, settings.memory.busy_seconds) as moment:
                made = {path: tmp_path / f"{number}-{path.name}" for path in moment.databases}
                for path, copy in made.items():
                    moment.copy(path, copy)
            found.append(sum(map(lessons_in, made.values())))
    finally:
        ending.set()
        mover.join()
    assert len(found) == COPIES
    assert min(found) >= 1


def test_the_copies_are_of_one_moment_and_who_writes_does_not_wait(
    household: Household, memory: MemberMemory, home: Home, tmp_path: Path
) -> None:
    chats = memory.chats
    conversation = chats.start()
    chats.question(conversation.id, "antes")
    with one_moment(home, 1) as moment:
        chats.question(conversation.id, "después")
        household.members.add("Bruno", "en")
        for path in moment.databases:
            moment.copy(path, tmp_path / path.name)
    with contextlib.closing(sqlite3.connect(tmp_path / moment.databases[-1].name)) as opened:
        assert opened.execute("SELECT content FROM messages").fetchall() == [("antes",)]
    with contextlib.closing(sqlite3.connect(tmp_path / "family.db")) as opened:
        assert opened.execute("SELECT name FROM members").fetchall() == [("Ana",)]


def test_somebody_who_never_stops_writing_is_told_of_instead_of_waited_for(
    household: Household, memory: MemberMemory, home: Home
) -> None:
    with household._family.transaction(), pytest.raises(DatabaseBusy), one_moment(home, 0.1):
        pass


def test_a_copy_is_one_file_that_opens_where_nothing_can_be_written(
    household: Household, memory: MemberMemory, home: Home, tmp_path: Path
) -> None:
    with one_moment(home, 1) as moment:
        moment.copy(home.family_db, tmp_path / "copy.db")
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("copy")] == ["copy.db"]
    assert told_by((tmp_path / "copy.db").read_bytes()).damage == ""


def test_a_copy_tells_what_its_snapshots_are_made_of(household: Household, home: Home, tmp_path: Path) -> None:
    household.snapshots.ensure_base("base", "ab" * 32)
    with one_moment(home, 1) as moment:
        moment.copy(home.family_db, tmp_path / "copy.db")
    told = told_by((tmp_path / "copy.db").read_bytes())
    manifest = household.snapshots.current().digest
    assert (told.current, told.artifacts, told.bases) == ("v0", frozenset([manifest]), (("base", "ab" * 32),))
    assert newer(told.migrations) is None
    assert newer({*told.migrations, "9999_of_tomorrow"}) == "9999_of_tomorrow"


def test_a_snapshot_that_was_given_up_needs_nothing_but_the_manifest_that_its_children_name(
    household: Household, home: Home, tmp_path: Path
) -> None:
    snapshots = household.snapshots
    made = [snapshots.ensure_base("base", "ab" * 32)]
    for number in (1, 2):
        adapter = Adapter(household.artifacts.put_bytes(b"adapter %d" % number))
        base, parent = ("base", "ab" * 32), made[-1].id
        made.append(snapshots.create(*base, adapters=[adapter], parent=parent, run=None, reason="night", gate=None))
        snapshots.promote(made[-1].id, "night", "passed")
    household._family.run("UPDATE snapshots SET pruned_at = 1 WHERE number = 1")
    with one_moment(home, 1) as moment:
        moment.copy(home.family_db, tmp_path / "copy.db")
    told = told_by((tmp_path / "copy.db").read_bytes())
    assert told.artifacts == {*made[0].objects, made[1].digest, *made[2].objects}


@pytest.mark.parametrize("content", [b"", b"no database" * 1000])
def test_what_is_no_database_is_told_as_damage_or_as_empty(content: bytes) -> None:
    told = told_by(content)
    assert told.current is None
    assert bool(told.damage) == bool(content)


def copies_as_nobody(root: Path, to: Path) -> None:
    """Copies the family's database as somebody who may read the home and write nothing in it."""
    if os.geteuid() == 0:
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    with one_moment(Home(root), 1) as moment:
        moment.copy(Home(root).family_db, to)


def test_a_home_that_can_only_be_read_is_copied_too(home: Home, tmp_path: Path, settings: Settings) -> None:
    with Household.open(home, settings.memory) as household:
        household.members.add("Ana", "es")
    (tmp_path / "out").mkdir()
    (tmp_path / "out").chmod(0o777)
    for folder in (home.root, home.members, *list(home.root.parents)[:4]):
        if str(folder).startswith(str(tmp_path.parent.parent.parent)):
            folder.chmod(0o755)
    home.root.chmod(0o555)
    home.family_db.chmod(0o444)
    child = multiprocessing.get_context("spawn").Process(
        target=copies_as_nobody, args=(home.root, tmp_path / "out" / "copy.db")
    )
    child.start()
    child.join(30)
    home.root.chmod(0o700)
    assert child.exitcode == 0
    with contextlib.closing(sqlite3.connect(tmp_path / "out" / "copy.db")) as opened:
        assert opened.execute("SELECT name FROM members").fetchall() == [("Ana",)]


def refused_as_nobody(root: Path) -> None:
    """Takes hold of a home in which a file is shut to whoever looks; the path that the error names is printed."""
    if os.geteuid() == 0:
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    try:
        with one_moment(Home(root), 1):
            pass
    except DatabaseReadOnly as error:
        os._exit(3 if str(error.facts["path"]).endswith(".db") else 4)


def test_a_members_file_that_the_system_does_not_give_out_is_named(
    home: Home, tmp_path: Path, settings: Settings
) -> None:
    with Household.open(home, settings.memory) as household:
        path = home.member_db(household.member(household.members.add("Ana", "es").id).member.id)
    for folder in (home.root, home.members, *list(home.root.parents)[:4]):
        if str(folder).startswith(str(tmp_path.parent.parent.parent)):
            folder.chmod(0o755)
    for each in home.members.iterdir():
        each.chmod(0o666)
    home.members.chmod(0o777)
    home.family_db.chmod(0o444)
    path.chmod(0o000)
    child = multiprocessing.get_context("spawn").Process(target=refused_as_nobody, args=(home.root,))
    child.start()
    child.join(30)
    assert child.exitcode == 3


def test_a_file_that_can_only_be_read_leaves_nothing_behind_that_keeps_it_from_being_written_later(
    home: Home, tmp_path: Path, settings: Settings
) -> None:
    with Household.open(home, settings.memory) as household:
        household.members.add("Ana", "es")
    mine = tmp_path / "mine"
    shutil.copytree(home.root, mine)
    for path in (tmp_path, *tmp_path.parents[:3]):
        path.chmod(path.stat().st_mode | 0o055)
    (mine / "family.db").chmod(0o400)
    if os.geteuid() == 0:
        for path in (mine, *mine.rglob("*")):
            os.chown(path, NOBODY, NOBODY)
    child = multiprocessing.get_context("spawn").Process(target=copies_as_nobody, args=(mine, mine / "copy.db"))
    child.start()
    child.join(30)
    assert child.exitcode == 0
    assert sorted(path.name for path in mine.glob("family.db*")) == ["family.db"]
