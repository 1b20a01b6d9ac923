"""Opening, migrating and writing database files, and what each failure is called."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import sqlite3
import stat
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from configs.home import Home
from configs.settings import Settings, load_settings
from memory.database import Database
from memory.errors import DatabaseBusy, DatabaseDamaged, DatabaseReadOnly, DatabaseTooNew, DiskFull
from memory.household import Household
from memory.members import Member
from memory.migrations import KINDS, Migrations, statements
from tests.memory.conftest import TurnedClock

WRITERS = 8
EACH = 25
NOBODY = 65534


def family(home: Home, *, busy_seconds: float = 5) -> Database:
    return Database(home.family_db, Migrations("family"), clock=TurnedClock(), busy_seconds=busy_seconds)


def opens_and_adds(root: Path, number: int, start: multiprocessing.synchronize.Barrier) -> None:
    home = Home(root)
    start.wait(30)
    with Household.open(home, load_settings(home, {}).memory) as household:
        member = household.members.default(name="casa")
        chats = household.member(member.id).chats
        conversation = chats.start(str(number))
        for count in range(EACH):
            chats.question(conversation.id, f"pregunta {number} {count}")


def test_processes_that_open_a_new_home_at_once_make_it_once_and_lose_nothing(home: Home, settings: Settings) -> None:
    context = multiprocessing.get_context("spawn")
    start = context.Barrier(WRITERS)
    writers = [context.Process(target=opens_and_adds, args=(home.root, n, start)) for n in range(WRITERS)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    assert [writer.exitcode for writer in writers] == [0] * WRITERS
    with Household.open(home, settings.memory) as household:
        (member,) = household.members.list()
        chats = household.member(member.id).chats
        kept = [len(chats.messages(conversation.id)) for conversation in chats.list()]
    assert kept == [EACH] * WRITERS
    for path in (home.family_db, home.member_db(member.id)):
        with sqlite3.connect(path) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        connection.close()


def test_files_are_readable_by_their_owner_alone(home: Home, household: Household) -> None:
    member = household.members.add("Ana", "es")
    household.member(member.id).chats.start()
    files = [home.family_db, *home.members.iterdir()]
    assert len(files) > 1
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}


def test_opening_one_members_memory_touches_no_other_members_file(home: Home, household: Household) -> None:
    ana, bruno = (household.members.add(name, "es") for name in ("Ana", "Bruno"))
    household.member(bruno.id).chats.start()
    assert not home.member_db(ana.id).exists()
    household.member(ana.id).chats.start()
    household.close()
    home.member_db(ana.id).write_bytes(b"not a database" * 100)
    with Household.open(home, household.settings) as again:
        assert len(again.member(bruno.id).chats.list()) == 1
        with pytest.raises(DatabaseDamaged):
            again.member(ana.id)


@pytest.mark.parametrize("content", [b"hello", b"x" * 5000, b"SQLite format 3\x00" + b"\xff" * 5000])
def test_a_file_that_is_no_database_is_called_damaged_and_left_as_it_is(home: Home, content: bytes) -> None:
    home.family_db.write_bytes(content)
    with pytest.raises(DatabaseDamaged) as caught:
        family(home)
    assert caught.value.facts["path"] == str(home.family_db)
    assert home.family_db.read_bytes() == content


def test_pages_overwritten_in_the_middle_are_called_damaged(home: Home, settings: Settings) -> None:
    with Household.open(home, settings.memory) as household:
        member = household.members.add("Ana", "es")
        for number in range(200):
            household.member(member.id).chats.start(f"conversation {number}" * 5)
    path = home.member_db(member.id)
    content = path.read_bytes()
    path.write_bytes(content[:4096] + os.urandom(len(content) - 4096))
    with Household.open(home, settings.memory) as household, pytest.raises(DatabaseDamaged):
        household.member(member.id).chats.list()


def test_a_file_that_a_later_version_wrote_is_refused_untouched(home: Home) -> None:
    database = family(home)
    database.run("INSERT INTO migrations VALUES ('9999_later', 0)")
    database.close()
    with pytest.raises(DatabaseTooNew) as caught:
        family(home)
    assert caught.value.facts["migration"] == "9999_later"


def test_a_migration_that_fails_leaves_nothing_behind(
    home: Home, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "steps" / "family").mkdir(parents=True)
    (tmp_path / "steps" / "family" / "0001_a.sql").write_text("CREATE TABLE one (x);\nCREATE TABLE one (x);\n")
    monkeypatch.setattr("memory.migrations.FOLDER", tmp_path / "steps")
    with pytest.raises(Exception, match="already exists"):
        family(home)
    connection = sqlite3.connect(home.family_db)
    assert connection.execute("SELECT name FROM sqlite_master").fetchall() == []
    connection.close()


def test_a_table_of_both_kinds_of_files_is_written_once(household: Household, ana: Member) -> None:
    """What two scripts repeat drifts apart: a column that one of them gets is missing in the other."""
    kinds = [[script for step in Migrations(kind).steps() for script in own_statements(step)] for kind in KINDS]
    assert set(kinds[0]) & set(kinds[1]) == set()
    member = household.member(ana.id).papers.shelf.database
    tables = [
        {row["name"]: row["sql"] for row in each.rows("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")}
        for each in (household.documents.database, member)
    ]
    assert {"documents", "nodes", "facts_standing", "vectors", "recall_terms"} <= tables[0].keys() & tables[1].keys()


def own_statements(step: Path) -> list[str]:
    written = [line for line in step.read_text().splitlines(keepends=True) if not line.startswith((".read", "--"))]
    return [" ".join(each.split()) for each in statements("".join(written))]


def test_statements_with_semicolons_inside_stay_whole() -> None:
    script = "CREATE TABLE a (x);\n-- one; two\nCREATE TRIGGER t AFTER INSERT ON a BEGIN\n DELETE FROM a;\nEND;\n"
    assert len(list(statements(script))) == 2
    with pytest.raises(ValueError, match="inside a statement"):
        list(statements("CREATE TABLE a (x"))


def as_nobody(root: Path) -> None:
    """Runs in a child: root could write anywhere."""
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    try:
        Database(Home(root).family_db, Migrations("family"), clock=TurnedClock(), busy_seconds=1)
    except DatabaseReadOnly:
        os._exit(3)


def test_a_folder_that_cannot_be_written_is_called_read_only(home: Home, tmp_path: Path) -> None:
    family(home).close()
    for folder in (home.root, *list(home.root.parents)[:4]):
        if folder.owner() != "nobody" and str(folder).startswith(str(tmp_path.parent.parent.parent)):
            folder.chmod(0o755)
    home.root.chmod(0o555)
    home.family_db.chmod(0o444)
    child = multiprocessing.get_context("spawn").Process(target=as_nobody, args=(home.root,))
    child.start()
    child.join(30)
    home.root.chmod(0o700)
    assert child.exitcode == 3


def test_a_full_disk_is_named_and_nothing_is_half_written(household: Household) -> None:
    member = household.members.add("Ana", "es")
    chats = household.member(member.id).chats
    conversation = chats.start()
    chats.question(conversation.id, "cabe")
    database = chats._database
    pages = database.value("PRAGMA page_count")
    # The same SQLITE_FULL as from a full disk.
    database.value(f"PRAGMA max_page_count = {pages + 2}")
    with pytest.raises(DiskFull):
        chats.question(conversation.id, "no cabe " * 50_000)
    database.value("PRAGMA max_page_count = 1000000")
    assert [message.content for message in chats.messages(conversation.id)] == ["cabe"]
    chats.question(conversation.id, "cabe otra vez")
    assert database.value("PRAGMA integrity_check") == "ok"


@pytest.fixture
def little_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of two megabytes; only the administrator can mount one."""
    if not shutil.which("mount") or os.geteuid() != 0:
        pytest.skip("needs the right to mount")
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", tmp_path], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip("needs the right to mount")
    yield tmp_path
    subprocess.run(["umount", "-l", tmp_path], check=True)


def fill(path: Path) -> None:
    with path.open("wb", buffering=0) as file:
        while True:
            file.write(b"\0" * 4096)


def test_a_disk_without_room_even_to_open_is_named_full(little_disk: Path) -> None:
    home = Home(little_disk)
    family(home).close()
    with pytest.raises(OSError, match="No space"):
        fill(little_disk / "rest")
    with pytest.raises(DiskFull):
        family(home)
    (little_disk / "rest").unlink()
    family(home).close()


def opens_and_closes(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("SELECT count(*) FROM runs").fetchone()
    connection.close()


def test_a_second_opening_in_the_same_process_leaves_the_firsts_locks_alone(home: Home) -> None:
    database = family(home)
    family(home).close()
    # Without the first one's lock, the other process would take itself for the last one, and remove the log.
    other = multiprocessing.get_context("spawn").Process(target=opens_and_closes, args=(home.family_db,))
    other.start()
    other.join(30)
    assert other.exitcode == 0
    assert home.family_db.with_name("family.db-wal").exists()
    database.close()


def test_threads_share_a_household(household: Household) -> None:
    chats = household.member(household.members.add("Ana", "es").id).chats
    conversation = chats.start()
    with ThreadPoolExecutor(6) as pool:
        asked = list(pool.map(lambda n: chats.question(conversation.id, f"pregunta {n}").id, range(60)))
    assert {message.id for message in chats.messages(conversation.id)} == set(asked)


def test_a_writer_that_never_ends_is_reported_after_the_wait(home: Home) -> None:
    database = family(home, busy_seconds=0.2)
    blocker = sqlite3.connect(home.family_db, isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    with pytest.raises(DatabaseBusy):
        database.run("DELETE FROM runs")
    blocker.execute("ROLLBACK")
    blocker.close()
    database.run("DELETE FROM runs")
    database.close()


def test_a_transaction_is_all_or_nothing(home: Home) -> None:
    database = family(home)
    insert = "INSERT INTO file_digests VALUES (?, 0, 0, '')"

    def fails_at_the_end() -> None:
        with database.transaction():
            database.run(insert, ("a",))
            with database.transaction():
                database.run(insert, ("b",))
            raise KeyError

    with pytest.raises(KeyError):
        fails_at_the_end()
    assert database.rows("SELECT * FROM file_digests") == []
    with database.transaction():
        database.run(insert, ("a",))
    assert len(database.rows("SELECT * FROM file_digests")) == 1
    database.close()


def test_runs_of_an_earlier_version_stay_with_their_lessons(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    every = Migrations("family").steps()
    with monkeypatch.context() as earlier:
        earlier.setattr(Migrations, "steps", lambda _: every[:1])
        family(home).close()
    with sqlite3.connect(home.family_db) as plain:
        plain.execute(
            "INSERT INTO runs (number, kind, state, process, started_at) VALUES (3, 'lessons', 'held', '', 1)"
        )
        plain.execute("INSERT INTO run_lessons VALUES (3, 'a1')")
    plain.close()
    with Household.open(home, load_settings(home, {}).memory) as household:
        assert [(run.id, run.state) for run in household.runs.list()] == [("r0003", "held")]
        assert household.runs.lessons("r0003") == {"a1"}
        assert household.runs.finish("r0003", "done").state == "done"
        assert household.runs.create("lessons").id == "r0004"
