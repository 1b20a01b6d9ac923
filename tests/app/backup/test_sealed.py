"""A backup of a home in which somebody's file is encrypted: made, checked and put back by whoever lacks the key."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from app.backup.errors import BackupDamaged, HomeFilesDamaged
from configs.home import Home
from configs.settings import Settings, load_settings
from memory.entrance_errors import PassphraseNeeded
from memory.household import Household
from memory.sealing import encrypt
from tests.app.backup.conftest import Family, flip, names, restore, verify

pytest.importorskip("sqlcipher3")

PASSPHRASE = "siete gatos en un tejado"  # noqa: S105 - nobody's
SECRET = "Bruno's secret"  # noqa: S105 - a word to look for


@pytest.fixture
def settings(home: Home) -> Settings:
    return load_settings(home, {}, {"memory": {"entrance": {"memory_mib": 8, "passes": 1, "lanes": 1}}})


@pytest.fixture
def sealed(family: Family, settings: Settings) -> Family:
    """Bruno's file is encrypted, and nothing is open."""
    with Household.open(family.home, settings.memory) as household:
        encrypt(household, family.bruno, PASSPHRASE)
    return family


def said(home: Home, settings: Settings, member: str) -> list[str]:
    with Household.open(home, settings.memory) as household:
        with pytest.raises(PassphraseNeeded):
            household.member(member)
        household.doors.enter(household.members.get(member), PASSPHRASE)
        chats = household.member(member).chats
        return [message.content for chat in chats.list() for message in chats.messages(chat.id)]


def test_it_is_kept_checked_and_put_back_while_it_is_locked(sealed: Family, settings: Settings, tmp_path: Path) -> None:
    made = sealed.create(tmp_path / "casa.tar")
    assert made.without == ()
    assert SECRET.encode() not in made.file.read_bytes()
    assert [name for name in names(made.file) if name.endswith((".lock", ".exchanged"))] == []
    verify(made.file)
    there = Home(tmp_path / "there")
    restore(there, made.file)
    assert said(there, settings, sealed.bruno) == [SECRET]


def test_what_is_written_while_its_member_has_it_open_is_in_it(
    sealed: Family, settings: Settings, tmp_path: Path
) -> None:
    with Household.open(sealed.home, settings.memory) as household:
        household.doors.enter(household.members.get(sealed.bruno), PASSPHRASE)
        chats = household.member(sealed.bruno).chats
        chat, ended = chats.start().id, threading.Event()
        written = [chats.question(chat, "0").content]

        def write() -> None:
            while not ended.is_set():
                written.append(chats.question(chat, str(len(written))).content)

        writer = threading.Thread(target=write)
        writer.start()
        try:
            backups = []
            for number in range(3):
                before = len(written)
                backups.append((before, sealed.create(tmp_path / f"casa{number}.tar").file))
        finally:
            ended.set()
            writer.join()
    for number, (before, file) in enumerate(backups):
        verify(file)
        there = Home(tmp_path / f"there{number}")
        restore(there, file)
        kept = said(there, settings, sealed.bruno)
        # All that was stored before it was begun, in its order, and perhaps a little more.
        told = [int(each) for each in kept if each != SECRET]
        assert sorted(told) == list(range(len(told)))
        assert len(told) >= before


def test_one_that_no_seal_is_known_of_is_damaged(sealed: Family, tmp_path: Path) -> None:
    flip(sealed.home.member_db(sealed.bruno), at=3)
    with pytest.raises(HomeFilesDamaged):
        sealed.create(tmp_path / "casa.tar")


def test_a_bit_that_was_turned_over_in_a_backup_is_found(sealed: Family, tmp_path: Path) -> None:
    made = sealed.create(tmp_path / "casa.tar")
    content = made.file.read_bytes()
    cipher = sealed.home.member_db(sealed.bruno).read_bytes()
    flip(made.file, at=content.index(cipher[:64]) + 60)
    with pytest.raises(BackupDamaged):
        verify(made.file)
