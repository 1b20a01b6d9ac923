"""A member's file is encrypted by a passphrase of theirs, gets another one, or is plain again.

What was trained for them alone goes with the plain file: it would lie beside the encrypted one, with their words in it.
"""

from __future__ import annotations

import contextlib
import shutil
from typing import TYPE_CHECKING

from configs.home import Home
from memory.cipher import module
from memory.entrance_errors import NotEncrypted
from memory.errors import MemberFilesLeft, PrivateRunRunning
from memory.exchanging import exchange, leaving_no_log

if TYPE_CHECKING:
    from memory.household import Household
    from memory.members import Member


def encrypt(household: Household, member_id: str, passphrase: str) -> Member:
    """Encrypt a member's file, or give it another passphrase; their PIN is asked for no more.

    Raises SecretNeeded before they have proven who they are, PassphraseFormWrong, MemberFileOpen, PrivateRunRunning,
    EncryptionMissing, DatabaseBusy, DatabaseDamaged, DiskFull, and then the file is what it was; and MemberFilesLeft.
    """
    module()
    member = household.members.get(member_id)
    household.doors.check(member)
    if (run := household.runs.running()) is not None and run.member == member.id:
        raise PrivateRunRunning
    # There has to be a file.
    household.member(member.id)
    _, key = household.doors.seals.add(member.id, passphrase)
    _exchange(household, member, key)
    household.members.set_private_training(member.id, False)
    # Opened once, for what is still in the open beside it.
    household.member(member.id)
    return household.members.get(member.id)


def decrypt(household: Household, member_id: str) -> Member:
    """Have a member's file be plain again, for whoever is in the house. Raises NotEncrypted, and the same."""
    member = household.members.get(member_id)
    household.doors.check(member)
    if not household.doors.key(member):
        raise NotEncrypted(name=member.name)
    _exchange(household, member, "")
    return member


def _exchange(household: Household, member: Member, key: str) -> None:
    doors, path = household.doors, household.home.member_db(member.id)
    try:
        old = doors.key(member)
        # What was written last stands in the log, which SQLite removes when the file is closed.
        with contextlib.nullcontext() if old else leaving_no_log(path):
            household.close_file(member.id)
            exchange(path, old, key, member.name, household.settings.busy_seconds)
    except BaseException:
        doors.seals.clear(member.id)
        raise
    doors.sealed(member, key)


def clear_trained(home: Home) -> None:
    """Remove what was trained in a member's part of the home. Raises MemberFilesLeft."""
    for folder in (home.store, home.runs, home.cache):
        try:
            shutil.rmtree(folder)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise MemberFilesLeft(path=str(folder), reason=error.strerror or str(error)) from error
