"""What was kept is there again, and nothing that was there before is lost."""

from __future__ import annotations

import fcntl
import multiprocessing
import os
import random
import shutil
import stat
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from app.backup.alone import alone_in
from app.backup.errors import (
    BackupDamaged,
    BackupNoRoom,
    EngineInTheWay,
    HomeInUse,
    HomeNotEmpty,
    HomeNotReplaced,
    TrainingInTheWay,
)
from app.backup.restoring import restore as restore_backup
from configs.home import Home
from configs.settings import Settings
from engine.starting import is_locked
from memory.household import Household
from tests.app.backup.conftest import Family, files, flip, restore, rows

KILLS = 8


@pytest.fixture
def backup(family: Family, tmp_path: Path) -> Path:
    return family.create(tmp_path / "casa.tar").file


@pytest.fixture
def empty(tmp_path: Path) -> Home:
    """A place for a home in which there is nothing yet."""
    return Home(tmp_path / "new" / "home")


def kept(home: Home) -> dict[str, bytes]:
    """What is in a home but the locks of its engine, which a restore makes where there are none."""
    return {name: content for name, content in files(home.root).items() if not name.startswith("engine.")}


def beside(home: Home) -> list[str]:
    """What lies beside a home's folder, hidden files too."""
    return sorted(path.name for path in home.root.parent.iterdir() if path.name != home.root.name)


def test_everything_that_was_kept_is_there_again_as_it_was(family: Family, backup: Path, empty: Home) -> None:
    restored = restore(empty, backup)
    assert restored.moved_to is None
    for path in (family.home.family_db, *map(family.home.member_db, (family.ana, family.bruno))):
        assert rows(empty.root / path.relative_to(family.home.root)) == rows(path)
    was, now = files(family.home.root), files(empty.root)
    passing = ("logs/", "cache/", "engine.", "store/tmp/", "runs/.", "models/big", "models/hashes", "reserve")
    locks = ("/lock", ".lock")
    assert now == {name: was[name] for name in was if not (name.startswith(passing) or name.endswith(locks))}


def test_a_restored_home_opens_and_every_member_finds_their_own_words(
    family: Family, backup: Path, empty: Home, settings: Settings
) -> None:
    restore(empty, backup)
    with Household.open(empty, settings.memory) as household:
        assert household.snapshots.current().id == "v1"
        household.snapshots.promote("v1", "Ana", "all of it is whole")
        ana, bruno = household.member(family.ana), household.member(family.bruno)
        assert [hit.snippet for hit in ana.chats.search("secreto")] == ["secreto de Ana"]
        assert [hit.snippet for hit in bruno.chats.search("secret")] == ["Bruno's secret"]
        assert [lesson.chosen for lesson in ana.lessons.list()] == ["Misu"]
        record = ana.private.current()
        assert record is not None
        assert ana.private.path(record.sha256).read_bytes()


def test_only_its_owner_can_read_what_was_put_back(backup: Path, empty: Home) -> None:
    before = os.umask(0)
    try:
        restore(empty, backup)
    finally:
        os.umask(before)
    found = [empty.root, *empty.root.rglob("*")]
    assert {stat.S_IMODE(path.stat().st_mode) & 0o077 for path in found} == {0}
    stored = [path for path in (empty.store / "sha256").rglob("*") if path.is_file()]
    assert {stat.S_IMODE(path.stat().st_mode) for path in stored} == {0o400}


def test_a_home_that_was_only_prepared_takes_a_backup_without_being_asked_twice(backup: Path, empty: Home) -> None:
    empty.prepare()
    assert restore(empty, backup).moved_to is None
    assert beside(empty) == []
    assert empty.family_db.is_file()


@pytest.mark.parametrize(
    "name", ["config.yaml", ".ssh/id", "logs/tax.pdf", "cache/a", "big.gguf.part", "search.db", "empty/", "engine.lock"]
)
def test_a_place_with_anything_in_it_is_not_touched_unless_it_is_moved_aside_whole(
    backup: Path, empty: Home, name: str
) -> None:
    empty.prepare()
    path = empty.root / name
    path.parent.mkdir(exist_ok=True)
    if name.endswith("/"):
        path.mkdir()
    else:
        path.write_bytes(b"mine")
    with pytest.raises(HomeNotEmpty) as refused:
        restore(empty, backup)
    assert refused.value.facts["count"] == 1
    assert name.startswith(str(refused.value.facts["first"]))
    assert path.exists()
    moved = restore(empty, backup, replace=True).moved_to
    assert moved is not None
    assert (moved / name).exists()
    assert empty.family_db.is_file()


def test_what_appears_in_an_empty_home_while_a_backup_is_put_back_is_kept(backup: Path, empty: Home) -> None:
    empty.prepare()

    def appears(_done: int, _total: int) -> None:
        empty.config_file.write_bytes(b"engine: {}")

    with pytest.raises(HomeNotEmpty):
        restore_backup(empty, backup, replace=False, now=0, tell=appears)
    assert empty.config_file.read_bytes() == b"engine: {}"


def test_a_home_that_is_replaced_is_moved_aside_whole(family: Family, backup: Path) -> None:
    family.home.config_file.write_text("engine:\n  slots: 4\n", encoding="utf-8")
    was = kept(family.home)
    moved = restore(family.home, backup, replace=True).moved_to
    assert moved is not None
    assert moved.parent == family.home.root.parent
    assert kept(Home(moved)) == was
    assert family.home.config_file.read_text(encoding="utf-8") == "engine:\n  slots: 2\n"
    again = restore(family.home, backup, replace=True).moved_to
    assert again not in (None, moved)


def test_a_damaged_home_is_replaced_too(family: Family, backup: Path, settings: Settings) -> None:
    family.home.family_db.write_bytes(b"no database at all" * 1000)
    restore(family.home, backup, replace=True)
    with Household.open(family.home, settings.memory) as household:
        assert len(household.members.list()) == 2


def test_a_home_behind_a_link_is_put_back_where_the_link_leads(family: Family, backup: Path, tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    family.home.root.rename(tmp_path / "disk" / "casa")
    family.home.root.symlink_to(tmp_path / "disk" / "casa")
    moved = restore(family.home, backup, replace=True).moved_to
    assert moved is not None
    assert moved.parent == tmp_path / "disk"
    assert family.home.root.is_symlink()
    assert family.home.family_db.is_file()


def test_a_damaged_backup_changes_nothing(family: Family, backup: Path) -> None:
    was, content = kept(family.home), backup.read_bytes()
    flip(backup, content.index(b"what the family taught"))
    with pytest.raises(BackupDamaged):
        restore(family.home, backup, replace=True)
    assert kept(family.home) == was
    assert [name for name in beside(family.home) if "home" in name] == []


def test_a_home_that_a_training_works_in_is_not_replaced(family: Family, backup: Path, settings: Settings) -> None:
    with Household.open(family.home, settings.memory) as household:
        household.runs.create("lessons")
    with pytest.raises(TrainingInTheWay):
        restore(family.home, backup, replace=True)


def test_a_home_that_is_open_in_another_window_is_not_replaced(
    family: Family, backup: Path, settings: Settings
) -> None:
    with Household.open(family.home, settings.memory), pytest.raises(HomeInUse):
        restore(family.home, backup, replace=True)


@pytest.mark.parametrize("name", ["engine.lock", "engine.starting"])
def test_a_home_whose_engine_runs_or_starts_is_not_replaced(family: Family, backup: Path, name: str) -> None:
    with (family.home.root / name).open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(EngineInTheWay):
            restore(family.home, backup, replace=True)


def test_no_engine_begins_where_a_home_is_being_exchanged_though_none_ever_ran_there(empty: Home) -> None:
    empty.prepare()
    with alone_in(empty):
        assert is_locked(empty)
        with empty.engine_starting.open("ab") as lock, pytest.raises(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_a_database_that_cannot_be_asked_whether_it_is_in_use_is_not_replaced(family: Family, backup: Path) -> None:
    (family.home.root / "family.db-journal").mkdir()
    with pytest.raises(HomeNotReplaced):
        restore(family.home, backup, replace=True)


def test_a_training_that_was_under_way_when_the_backup_was_made_is_under_way_in_no_copy(
    family: Family, tmp_path: Path, empty: Home, settings: Settings
) -> None:
    with Household.open(family.home, settings.memory) as household:
        run = household.runs.create("lessons")
        backup = family.create(tmp_path / "busy.tar").file
        restore(empty, backup)
        running = household.runs.running()
        assert running is not None
        assert running.id == run.id
    with Household.open(empty, settings.memory) as restored:
        assert restored.runs.running() is None
        assert restored.runs.get(run.id).state == "stopped"


def test_a_disk_without_room_is_told_before_anything_is_put_back(
    backup: Path, empty: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=10))
    with pytest.raises(BackupNoRoom):
        restore(empty, backup)
    assert beside(empty) == []


@pytest.mark.parametrize("raised", [OSError(16, "Device or resource busy"), KeyboardInterrupt()])
@pytest.mark.parametrize("replace", [True, False])
def test_a_folder_that_cannot_be_exchanged_leaves_everything_as_it_was(
    family: Family,
    backup: Path,
    empty: Home,
    monkeypatch: pytest.MonkeyPatch,
    raised: BaseException,
    replace: bool,
) -> None:
    home, rename = family.home if replace else empty, Path.rename
    empty.prepare()
    was, folders = kept(home), {path.name for path in home.root.iterdir() if path.is_dir()}

    def refuses(path: Path, target: Path) -> Path:
        if path.name == "home" and path.parent.name.endswith(".enlace-part"):
            raise raised
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", refuses)
    with pytest.raises(HomeNotReplaced if isinstance(raised, OSError) else KeyboardInterrupt):
        restore(home, backup, replace=replace)
    monkeypatch.undo()
    assert kept(home) == was
    assert {path.name for path in home.root.iterdir() if path.is_dir()} == folders
    assert [name for name in beside(home) if ".before-" in name or ".enlace-part" in name] == []


def restores(root: str, path: str) -> None:
    restore(Home(Path(root)), Path(path), replace=True)


def test_a_kill_at_any_moment_leaves_the_old_home_or_the_new_one_and_never_half_of_it(
    family: Family, tmp_path: Path, empty: Home, settings: Settings
) -> None:
    (family.home.models / "large.gguf").write_bytes(os.urandom(1 << 24))
    backup = family.create(tmp_path / "casa.tar").file
    waits, context, whole = random.Random(5), multiprocessing.get_context("spawn"), len(files(restored(empty, backup)))
    for _ in range(KILLS):
        child = context.Process(target=restores, args=(str(empty.root), str(backup)))
        child.start()
        while not any(".enlace-part" in name for name in beside(empty)) and child.is_alive():
            time.sleep(0.001)
        time.sleep(waits.uniform(0, 0.1))
        child.kill()
        child.join()
        # Between two renames, and only there, nothing is at the home's place: the old home is beside it then.
        moved = [empty.root.parent / name for name in beside(empty) if ".before-" in name]
        for home in (Home(root) for root in (empty.root, *moved) if root.exists()):
            with Household.open(home, settings.memory) as household:
                assert len(household.members.list()) == 2
            left = {name for name in kept(home) if not name.endswith("/lock") and name != home.reserve.name}
            assert len(left) == whole
        assert empty.root.exists() or moved
    restore(empty, backup, replace=True)
    assert not [name for name in beside(empty) if ".enlace-part" in name]


def restored(home: Home, path: Path) -> Path:
    restore(home, path)
    return home.root
