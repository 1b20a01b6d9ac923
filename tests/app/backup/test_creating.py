"""What is in a backup, what is not, and that there is a whole one or none."""

from __future__ import annotations

import errno
import multiprocessing
import os
import random
import shutil
import stat
import tarfile
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from app.backup.creating import Made
from app.backup.errors import (
    BackupExists,
    BackupInsideHome,
    BackupNoRoom,
    NothingToBackUp,
)
from configs.home import Home
from configs.settings import Settings
from memory.artifacts import Stored
from memory.errors import DiskFull
from memory.household import Household
from tests.app.backup.conftest import Family, left_in, names, verify

KILLS = 12


def test_a_backup_holds_all_that_is_kept_and_nothing_that_makes_itself_again(family: Family, tmp_path: Path) -> None:
    made = family.create(tmp_path / "casa.tar")
    stored = {f"store/sha256/{digest[:2]}/{digest[2:]}" for digest in (family.adapter, family.merged)}
    kept = names(made.file)
    assert kept >= stored | {
        "family.db",
        f"members/{family.ana}.db",
        f"members/{family.bruno}.db",
        f"members/{family.ana}/store/sha256/{family.mine[:2]}/{family.mine[2:]}",
        "models/casa.gguf",
        f"models/forms/{family.base}/form.json",
        f"models/forms/{family.base}/q4_0.gguf",
        "runs/r0001/prepare/data.json",
        "config.yaml",
    }
    assert (made.files, made.snapshot, made.without) == (len(kept), "v1", ())
    passing = ("logs", "cache", "engine", "search", "store/tmp", "store/lock", "runs/.", "models/big", "models/hashes")
    assert [name for name in kept if name.startswith(passing) or name.endswith(("-wal", "-shm"))] == []


def test_only_its_owner_can_read_a_backup_and_what_comes_out_of_it(family: Family, tmp_path: Path) -> None:
    made = family.create(tmp_path / "casa.tar")
    assert stat.S_IMODE(made.file.stat().st_mode) == 0o600
    with tarfile.open(made.file) as tar:
        modes = {entry.name: entry.mode for entry in tar}
    assert modes.pop("casa") == 0o700
    assert {mode & 0o077 for mode in modes.values()} == {0}


def test_the_same_home_gives_the_same_backup_to_the_byte(family: Family, tmp_path: Path) -> None:
    made = []
    for folder in (tmp_path / "one", tmp_path / "two"):
        folder.mkdir()
        made.append(family.create(folder / "casa.tar").file.read_bytes())
    assert made[0] == made[1]


def test_what_a_backup_holds_of_the_home_does_not_hang_on_when_it_is_made(family: Family, tmp_path: Path) -> None:
    made = [family.create(tmp_path / f"{day}.tar", now=86_400.0 * day) for day in (1, 2)]
    manifests = []
    for each in made:
        with tarfile.open(each.file) as tar:
            file = tar.extractfile(f"{each.file.stem}/manifest-sha256.txt")
            assert file is not None
            manifests.append(file.read())
    assert manifests[0] == manifests[1]


def test_without_models_a_backup_names_what_it_leaves_out(family: Family, tmp_path: Path) -> None:
    made = family.create(tmp_path / "casa.tar", models=False)
    assert not [name for name in names(made.file) if name.startswith("models/") or family.merged[2:] in name]
    model = next(each for each in made.without if each.path == "models/casa.gguf")
    assert (model.why, model.bytes) == ("left_out", (family.home.models / "casa.gguf").stat().st_size)
    assert made.models_bytes == 0
    assert verify(made.file).about.without == made.without


def test_a_home_where_nobody_lives_gives_no_backup_and_is_not_made_one(tmp_path: Path) -> None:
    with pytest.raises(NothingToBackUp):
        Family(Home(tmp_path / "nobody"), "", "", "", "", "", "").create(tmp_path / "casa.tar")
    assert not (tmp_path / "nobody").exists()


def test_a_backup_inside_the_home_is_refused_also_through_a_link(family: Family, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(family.home.runs)
    family.home.models.rename(tmp_path / "big-disk")
    family.home.models.symlink_to(tmp_path / "big-disk")
    (tmp_path / "big-disk" / "more").mkdir()
    folders = (family.home.root, tmp_path / "link", tmp_path / "big-disk", tmp_path / "big-disk" / "more")
    for to in (folder / "casa.tar" for folder in folders):
        with pytest.raises(BackupInsideHome):
            family.create(to)


def test_a_file_that_is_there_is_never_replaced(family: Family, tmp_path: Path) -> None:
    (tmp_path / "casa.tar").write_bytes(b"photographs")
    with pytest.raises(BackupExists):
        family.create(tmp_path / "casa.tar")
    assert (tmp_path / "casa.tar").read_bytes() == b"photographs"


@pytest.mark.parametrize("links", [True, False])
def test_a_file_that_appears_while_the_backup_is_made_is_not_replaced_either(
    family: Family, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool
) -> None:
    def unsupported(_part: Path, _to: Path) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    if not links:
        monkeypatch.setattr(os, "link", unsupported)
    whole = family.create(tmp_path / "whole.tar").file
    assert verify(whole).files
    assert stat.S_IMODE(whole.stat().st_mode) == 0o600
    refuses, exists = os.fsync, tmp_path / "casa.tar"

    def appears(handle: int) -> None:
        # The last thing that is done before the backup gets its name, after every look at whether there is a file.
        monkeypatch.setattr(Path, "exists", lambda path: path != exists and os.path.exists(path))
        exists.write_bytes(b"photographs")
        refuses(handle)

    monkeypatch.setattr(os, "fsync", appears)
    with pytest.raises(BackupExists):
        family.create(exists)
    assert exists.read_bytes() == b"photographs"


def test_a_disk_without_room_is_told_before_anything_is_copied(
    family: Family, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=10))
    with pytest.raises(BackupNoRoom) as refused:
        family.create(tmp_path / "casa.tar")
    assert refused.value.facts["needed_mb"] == 1
    assert left_in(tmp_path) == []


def test_a_disk_that_fills_up_leaves_nothing_behind(
    family: Family, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DiskFull):
        family.create(tmp_path / "casa.tar")
    assert left_in(tmp_path) == []


def test_what_is_given_up_while_a_backup_is_made_stays_until_it_is_made(
    family: Family, tmp_path: Path, settings: Settings
) -> None:
    removed: list[Stored] = []
    with Household.open(family.home, settings.memory) as household:
        objects = [each for each in household.artifacts.objects() if each.digest == family.adapter]
        pruning = threading.Thread(target=lambda: removed.extend(household.artifacts.remove_listed(objects)))

        def prune(_done: int, _total: int) -> None:
            if pruning.ident is None:
                pruning.start()
                pruning.join(0.5)
                assert pruning.is_alive()

        made = family.create(tmp_path / "casa.tar", tell=prune)
        pruning.join()
    assert removed == objects
    assert f"store/sha256/{family.adapter[:2]}/{family.adapter[2:]}" in names(made.file)


def makes_backups(family: Family, folder: str) -> None:
    for number in range(10_000):
        family.create(Path(folder) / f"{number}.tar")


def test_a_kill_at_any_moment_leaves_no_half_backup_that_looks_whole(family: Family, tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    folder.mkdir()
    (family.home.models / "large.gguf").write_bytes(os.urandom(1 << 22))
    waits, context = random.Random(11), multiprocessing.get_context("spawn")
    whole = 0
    for kill in range(KILLS):
        child = context.Process(target=makes_backups, args=(family, str(folder)))
        child.start()
        deadline = time.monotonic() + 60
        while not any(folder.iterdir()) and time.monotonic() < deadline:
            time.sleep(0.002)
        time.sleep(waits.uniform(0, 0.25))
        child.kill()
        child.join()
        for path in folder.glob("*.tar"):
            assert verify(path).files
            path.unlink()
            whole += 1
        # The next one clears away what this one left.
        family.create(folder / "next.tar").file.unlink()
        assert list(folder.iterdir()) == [], kill
    assert whole


def test_a_backup_that_is_being_made_is_not_taken_for_what_a_killed_one_left(family: Family, tmp_path: Path) -> None:
    made: list[Made] = []

    def second(_done: int, _total: int) -> None:
        if not made:
            made.append(family.create(tmp_path / "second.tar"))

    first = family.create(tmp_path / "first.tar", tell=second)
    assert verify(first.file).files == verify(made[0].file).files
