"""A member's file that is encrypted: what is in it, what is not beside it, and what happens in between."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from configs.home import Home
from configs.settings import Settings
from memory import exchanging
from memory.cipher import is_open_here, salt_of
from memory.entrance_errors import (
    EncryptionMissing,
    MemberFileOpen,
    NotEncrypted,
    PassphraseFormWrong,
    PassphraseNeeded,
    PassphraseWrong,
    PinBesidePassphrase,
    TooManyTries,
)
from memory.errors import DatabaseBusy, DatabaseDamaged, DiskFull
from memory.guard import Guard
from memory.household import Household
from memory.members import Member
from memory.sealing import decrypt, encrypt
from tests.memory.conftest import SAID, everything, in_plain

pytest.importorskip("sqlcipher3")

PASSPHRASE = "siete gatos en un tejado"  # noqa: S105 - nobody's
OTHER = "ocho perros en una barca"


def test_what_is_in_it_is_the_same_before_and_after_and_is_read_nowhere_on_the_disk(
    household: Household, telling: Member, home: Home, anew: Callable[..., Household]
) -> None:
    before = everything(household, telling)
    assert len(before) == 6
    encrypt(household, telling.id, PASSPHRASE)
    assert everything(household, telling) == before
    assert in_plain(home) == []
    household.close()
    assert in_plain(home) == []
    with anew() as later:
        assert later.doors.secret_of(telling.id) == "passphrase"
        with pytest.raises(PassphraseNeeded):
            later.member(telling.id)
        later.doors.enter(telling, PASSPHRASE)
        assert everything(later, telling) == before
        assert in_plain(home) == []


def test_what_was_written_last_stays_in_no_block_of_the_log_either(
    household: Household, telling: Member, home: Home, tmp_path: Path
) -> None:
    path = home.member_db(telling.id)
    log = path.with_name(f"{path.name}-wal")
    assert SAID.encode() in log.read_bytes()
    # Under another name its blocks can be looked at when SQLite has let go of them.
    os.link(log, tmp_path / "blocks")
    encrypt(household, telling.id, PASSPHRASE)
    assert set((tmp_path / "blocks").read_bytes()) <= {0}


def test_of_two_encrypted_files_one_that_is_busy_keeps_the_other_from_nothing(
    household: Household, telling: Member, bruno: Member, home: Home, settings: Settings
) -> None:
    for member in (telling, bruno):
        household.member(member.id)
        encrypt(household, member.id, PASSPHRASE)
    household.close()
    hasty = Household.open(home, settings.memory.model_copy(update={"busy_seconds": 0.1}))
    for member in (telling, bruno):
        hasty.doors.enter(member, PASSPHRASE)
        hasty.member(member.id)
    with Guard(home.member_db(telling.id), 1).alone(), pytest.raises(DatabaseBusy):
        hasty.close()
    assert not is_open_here(home.member_db(bruno.id))
    assert not is_open_here(home.family_db)


def test_neither_passphrase_nor_key_is_anywhere_on_the_disk(household: Household, telling: Member, home: Home) -> None:
    encrypt(household, telling.id, PASSPHRASE)
    key = household.doors.key(telling)
    household.close()
    for path in (each for each in home.root.rglob("*") if each.is_file()):
        content = path.read_bytes()
        assert PASSPHRASE.encode() not in content
        # Without the salt, which the file begins with.
        assert key[2:66].encode() not in content
        assert bytes.fromhex(key[2:66]) not in content


def test_a_wrong_passphrase_and_a_damaged_file_are_told_apart(
    household: Household, telling: Member, home: Home, anew: Callable[..., Household]
) -> None:
    encrypt(household, telling.id, PASSPHRASE)
    household.close()
    path = home.member_db(telling.id)
    whole = path.read_bytes()
    with anew() as later, pytest.raises(PassphraseWrong):
        later.doors.enter(telling, OTHER)
    for at in (20, 2000):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with anew() as later:
            with pytest.raises(PassphraseWrong):
                later.doors.enter(telling, OTHER)
            later.doors.enter(telling, PASSPHRASE)
            with pytest.raises(DatabaseDamaged):
                later.member(telling.id)
    path.write_bytes(bytes([whole[0] ^ 1]) + whole[1:])
    with anew() as later, pytest.raises(DatabaseDamaged):
        later.member(telling.id)


def test_a_passphrase_is_the_same_however_its_letters_are_put_together(household: Household, telling: Member) -> None:
    encrypt(household, telling.id, "cami\u00f3n \u00e1mbar azul")
    household.leave(telling.id)
    household.doors.enter(telling, "camio\u0301n a\u0301mbar azul ")


def test_bytes_that_are_no_text_are_as_much_of_a_passphrase_as_others(household: Household, telling: Member) -> None:
    encrypt(household, telling.id, f"{PASSPHRASE} \udcff")
    household.leave(telling.id)
    with pytest.raises(PassphraseWrong):
        household.doors.enter(telling, f"{PASSPHRASE} \udcfe")
    household.doors.enter(telling, f"{PASSPHRASE} \udcff")


def test_wrong_passphrases_make_somebody_wait_too(household: Household, telling: Member) -> None:
    encrypt(household, telling.id, PASSPHRASE)
    household.leave(telling.id)
    for _ in range(household.settings.entrance.free_tries):
        with pytest.raises(PassphraseWrong):
            household.doors.enter(telling, OTHER)
    with pytest.raises(TooManyTries):
        household.doors.enter(telling, PASSPHRASE)


def test_another_passphrase_opens_it_and_the_old_one_no_longer(household: Household, telling: Member) -> None:
    before = everything(household, telling)
    encrypt(household, telling.id, PASSPHRASE)
    encrypt(household, telling.id, OTHER)
    household.leave(telling.id)
    with pytest.raises(PassphraseWrong):
        household.doors.enter(telling, PASSPHRASE)
    household.doors.enter(telling, OTHER)
    assert everything(household, telling) == before
    assert household._family.value("SELECT count(*) FROM seals") == 1


def test_it_is_plain_again_where_somebody_wants_it(household: Household, telling: Member, home: Home) -> None:
    before = everything(household, telling)
    with pytest.raises(NotEncrypted):
        decrypt(household, telling.id)
    encrypt(household, telling.id, PASSPHRASE)
    decrypt(household, telling.id)
    assert household.doors.secret_of(telling.id) is None
    assert everything(household, telling) == before
    assert salt_of(home.member_db(telling.id)) is None
    assert household._family.value("SELECT count(*) FROM seals") == 0


@pytest.mark.parametrize("passphrase", ["", "corta", "x" * 300])
def test_a_passphrase_that_is_too_short_or_too_long_changes_nothing(
    household: Household, telling: Member, passphrase: str
) -> None:
    with pytest.raises(PassphraseFormWrong):
        encrypt(household, telling.id, passphrase)
    assert household.doors.secret_of(telling.id) is None


def test_the_passphrase_takes_the_place_of_the_pin(household: Household, telling: Member) -> None:
    household.doors.set_pin(telling, "4821")
    encrypt(household, telling.id, PASSPHRASE)
    with pytest.raises(PinBesidePassphrase):
        household.doors.set_pin(telling, "4821")
    decrypt(household, telling.id)
    assert household.doors.secret_of(telling.id) is None


def test_a_file_that_somebody_has_open_stays_what_it_is(
    household: Household, telling: Member, anew: Callable[..., Household], home: Home
) -> None:
    with anew() as elsewhere:
        before = everything(elsewhere, telling)
        with pytest.raises(MemberFileOpen):
            encrypt(household, telling.id, PASSPHRASE)
        assert everything(elsewhere, telling) == before
    assert salt_of(home.member_db(telling.id)) is None
    assert household._family.value("SELECT count(*) FROM seals") == 0
    encrypt(household, telling.id, PASSPHRASE)
    with anew() as elsewhere:
        elsewhere.doors.enter(telling, PASSPHRASE)
        elsewhere.member(telling.id)
        with pytest.raises(MemberFileOpen):
            encrypt(household, telling.id, OTHER)
    household.doors.enter(telling, PASSPHRASE)
    assert everything(household, telling) == before


def test_a_disk_that_is_full_leaves_it_what_it_was(
    household: Household, telling: Member, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = everything(household, telling)

    def full(*_: object) -> None:
        raise DiskFull(path=str(home.members))

    monkeypatch.setattr(exchanging, "_write", full)
    with pytest.raises(DiskFull):
        encrypt(household, telling.id, PASSPHRASE)
    assert everything(household, telling) == before
    assert household.doors.secret_of(telling.id) is None
    assert not [path for path in home.members.iterdir() if path.name.startswith(".")]


def test_one_of_an_older_version_is_brought_up_to_date_when_it_is_opened(
    household: Household, ana: Member, home: Home, anew: Callable[..., Household]
) -> None:
    household.member(ana.id)
    encrypt(household, ana.id, PASSPHRASE)
    database = household._opened[ana.id][0]
    database.run("DROP TABLE voice")
    database.run("DELETE FROM migrations WHERE name = '0008_voice'")
    household.close()
    with anew() as later:
        later.doors.enter(ana, PASSPHRASE)
        assert later.member(ana.id).voice.set("as ever") == "as ever"
        assert later._opened[ana.id][0].row("SELECT 1 FROM migrations WHERE name = '0008_voice'")


def test_what_was_trained_for_them_alone_goes_with_the_plain_file(
    household: Household, telling: Member, home: Home, tmp_path: Path
) -> None:
    household.members.set_private_training(telling.id, True)
    base = household.snapshots.ensure_base("a model", "a" * 64)
    adapter = tmp_path / "adapter"
    adapter.write_bytes(SAID.encode())
    household.member(telling.id).private.promote(adapter, base, "r0001", {})
    own = home.of_member(telling.id)
    (own.runs / "r0001").mkdir(parents=True)
    (own.runs / "r0001" / "inputs.json").write_text(SAID)
    encrypt(household, telling.id, PASSPHRASE)
    assert household.member(telling.id).private.list() == []
    assert not household.members.get(telling.id).private_training
    assert in_plain(home) == []


def test_without_sqlcipher_it_is_said_and_no_try_is_counted(
    household: Household, telling: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    encrypt(household, telling.id, PASSPHRASE)
    household.leave(telling.id)
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "sqlcipher3", None)
        for _ in range(household.settings.entrance.free_tries + 1):
            with pytest.raises(EncryptionMissing):
                household.doors.enter(telling, PASSPHRASE)
    household.doors.enter(telling, PASSPHRASE)


def test_removing_a_member_removes_what_opened_their_file(household: Household, ana: Member, bruno: Member) -> None:
    household.doors.set_pin(ana, "4821")
    household.member(bruno.id)
    encrypt(household, bruno.id, PASSPHRASE)
    for member in (ana, bruno):
        household.members.add(f"after {member.name}", "es")
        household.members.remove(member.id)
        assert [path for path in household.home.members.iterdir() if member.id in path.name] == []
    for count in ("SELECT count(*) FROM pins", "SELECT count(*) FROM seals", "SELECT count(*) FROM wrong_tries"):
        assert household._family.value(count) == 0
