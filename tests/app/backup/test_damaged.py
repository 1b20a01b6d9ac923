"""What is damaged in a home keeps a backup from being made, is named, and can be left out."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import pytest

from app.backup.errors import HomeFilesDamaged
from configs.home import Home
from configs.settings import Settings
from memory.errors import DatabaseDamaged
from memory.household import Household
from tests.app.backup.conftest import Family, flip, left_in, names, restore, verify


@pytest.mark.parametrize("what", ["adapter", "mine", "merged", "model", "form"])
def test_a_flipped_bit_is_named_and_no_backup_is_made(family: Family, tmp_path: Path, what: str) -> None:
    home = family.home
    path = {
        "adapter": home.artifact(family.adapter),
        "merged": home.artifact(family.merged),
        "mine": home.of_member(family.ana).artifact(family.mine),
        "model": home.models / "casa.gguf",
        "form": home.models / "forms" / family.base / "q4_0.gguf",
    }[what]
    flip(path)
    with pytest.raises(HomeFilesDamaged) as refused:
        family.create(tmp_path / "casa.tar")
    assert refused.value.paths == [path.relative_to(home.root).as_posix()]
    assert left_in(tmp_path) == []


def test_a_file_that_a_snapshot_needs_and_that_is_gone_is_named(family: Family, tmp_path: Path) -> None:
    family.home.artifact(family.adapter).unlink()
    with pytest.raises(HomeFilesDamaged) as refused:
        family.create(tmp_path / "casa.tar")
    assert refused.value.paths == [f"store/sha256/{family.adapter[:2]}/{family.adapter[2:]}"]


def test_what_is_damaged_can_be_left_out_and_the_backup_says_so(family: Family, tmp_path: Path) -> None:
    flip(family.home.artifact(family.adapter))
    made = family.create(tmp_path / "casa.tar", skip_damaged=True)
    path = f"store/sha256/{family.adapter[:2]}/{family.adapter[2:]}"
    assert [(each.path, each.why) for each in made.without] == [(path, "damaged")]
    assert path not in names(made.file)
    assert verify(made.file).about.without == made.without


def test_a_model_that_somebody_deleted_is_told_and_keeps_no_backup_from_being_made(
    family: Family, tmp_path: Path
) -> None:
    (family.home.models / "casa.gguf").unlink()
    made = family.create(tmp_path / "casa.tar")
    assert [(each.path, each.why) for each in made.without] == [("models/casa.gguf", "missing")]


def damage(path: Path, first: int) -> None:
    """Have nothing sensible in a database from the byte ``first`` on: 0 is no database at all."""
    with contextlib.closing(sqlite3.connect(path)) as opened:
        opened.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = bytearray(path.read_bytes())
    content[first : first + 4096] = b"\xff" * 4096
    path.write_bytes(content)


@pytest.mark.parametrize("first", [0, 4096])
def test_a_damaged_family_is_named_and_no_backup_is_made(family: Family, tmp_path: Path, first: int) -> None:
    damage(family.home.family_db, first)
    for skip in (False, True):
        with pytest.raises(DatabaseDamaged) as refused:
            family.create(tmp_path / "casa.tar", skip_damaged=skip)
        assert refused.value.facts["path"] == str(family.home.family_db)
    assert left_in(tmp_path) == []


@pytest.mark.parametrize("first", [0, 4096])
def test_a_members_damaged_database_is_named_and_can_be_left_out(
    family: Family, tmp_path: Path, settings: Settings, first: int
) -> None:
    path = family.home.member_db(family.bruno)
    name = path.relative_to(family.home.root).as_posix()
    damage(path, first)
    with pytest.raises(HomeFilesDamaged) as refused:
        family.create(tmp_path / "casa.tar")
    assert refused.value.paths == [name]
    assert left_in(tmp_path) == []
    made = family.create(tmp_path / "casa.tar", skip_damaged=True)
    assert [(each.path, each.why) for each in made.without] == [(name, "damaged")]
    assert name not in names(made.file)
    assert verify(made.file).about.without == made.without
    elsewhere = Home(tmp_path / "new" / "home")
    restore(elsewhere, made.file)
    with Household.open(elsewhere, settings.memory) as household:
        assert [hit.snippet for hit in household.member(family.ana).chats.search("secreto")] == ["secreto de Ana"]
        assert household.member(family.bruno).chats.list() == []
