"""How a member proves who they are before their file is opened: by a PIN, kept as its Argon2id hash (RFC 9106).

A PIN keeps the others of the house out of what Enlace shows; whoever can read the home's files needs none. Against
those a member's file is encrypted (``memory/seals.py``), and then its passphrase is what is asked for.
"""

from __future__ import annotations

import hashlib
import math
import secrets
import unicodedata
from typing import TYPE_CHECKING, Final, Literal

from configs.sections.entrance import EntranceSettings
from memory.clock import Clock
from memory.database import Database
from memory.entrance_errors import PinFormWrong, PinWrong, TooManyTries, WayBackWrong
from memory.text import storable

if TYPE_CHECKING:
    from argon2 import PasswordHasher

Secret = Literal["pin", "passphrase"]
Asked = Literal["pin", "passphrase", "way_back"]
# Of a code that sets a new PIN: 95 bits, in letters that nobody mistakes for figures.
_LETTERS: Final = "abcdefghjkmnpqrstuvwxyz"
_GROUPS: Final = 5
_IN_A_GROUP: Final = 4


class Tries:
    """Wrong tries of one household, counted in its database, so that neither a restart nor another process forgets."""

    def __init__(self, family: Database, settings: EntranceSettings, clock: Clock) -> None:
        self._family = family
        self._settings = settings
        self._clock = clock

    def begin(self, member_id: str, name: str) -> None:
        """Count a try as wrong before it is looked at: of many processes at once, none has one more.

        ``succeeded`` takes it back. Raises TooManyTries where it is too early for one.
        """
        with self._family.transaction():
            row = self._family.row("SELECT number, last_at FROM wrong_tries WHERE member = ?", (member_id,))
            now, number, last_at = self._clock(), row["number"] if row else 0, row["last_at"] if row else 0.0
            # A clock that was set back ends no wait, and makes none of hours: it begins anew.
            last_at = min(last_at, now)
            left = last_at + self._wait(number) - now
            if left <= 0:
                number, last_at = number + 1, now
            values = (member_id, number, last_at)
            self._family.run("INSERT OR REPLACE INTO wrong_tries (member, number, last_at) VALUES (?, ?, ?)", values)
        if left > 0:
            raise TooManyTries(name=name, seconds=math.ceil(left))

    def succeeded(self, member_id: str) -> None:
        """Whoever tried was right."""
        self._family.run("DELETE FROM wrong_tries WHERE member = ?", (member_id,))

    def left(self, member_id: str) -> int:
        """How many more nobody has to wait after."""
        row = self._family.row("SELECT number FROM wrong_tries WHERE member = ?", (member_id,))
        return max(0, self._settings.free_tries - (row["number"] if row else 0))

    def _wait(self, number: int) -> float:
        """Seconds to wait after ``number`` wrong ones."""
        beyond = number - self._settings.free_tries
        if beyond < 0:
            return 0
        # Beyond 2**30 seconds any longest wait is shorter; a float ends at 2**1024.
        return min(self._settings.first_wait_seconds * 2.0 ** min(beyond, 30), self._settings.longest_wait_seconds)


class Pins:
    """The PINs of one household."""

    def __init__(self, family: Database, settings: EntranceSettings, clock: Clock, tries: Tries) -> None:
        self._family = family
        self._settings = settings
        self._clock = clock
        self._tries = tries

    def has(self, member_id: str) -> bool:
        return self._family.row("SELECT 1 FROM pins WHERE member = ?", (member_id,)) is not None

    def set(self, member_id: str, pin: str) -> str:
        """Have this PIN asked for from now on; a code that sets another where it is forgotten. Raises PinFormWrong."""
        hashed = self._hasher().hash(self.check_form(pin))
        code = "-".join("".join(secrets.choice(_LETTERS) for _ in range(_IN_A_GROUP)) for _ in range(_GROUPS))
        with self._family.transaction():
            values = (member_id, hashed, _digest(code), self._clock())
            self._family.run("INSERT OR REPLACE INTO pins (member, hash, way_back, set_at) VALUES (?, ?, ?, ?)", values)
            self._tries.succeeded(member_id)
        return code

    def remove(self, member_id: str) -> None:
        """Have none asked for any more."""
        self._family.run("DELETE FROM pins WHERE member = ?", (member_id,))

    def check(self, member_id: str, name: str, pin: str) -> None:
        """Return where it is theirs, or where another window has taken the PIN off meanwhile.

        Raises PinWrong, and TooManyTries without having looked.
        """
        from argon2.exceptions import VerifyMismatchError

        self._tries.begin(member_id, name)
        hashed = self._family.value("SELECT hash FROM pins WHERE member = ?", (member_id,))
        if hashed is None:
            self._tries.succeeded(member_id)
            return
        hasher, given = self._hasher(), _digits(pin)
        try:
            hasher.verify(hashed, given)
        except VerifyMismatchError:
            raise PinWrong(name=name, left=self._tries.left(member_id)) from None
        self._tries.succeeded(member_id)
        if hasher.check_needs_rehash(hashed):
            self._family.run("UPDATE pins SET hash = ? WHERE member = ?", (hasher.hash(given), member_id))

    def check_way_back(self, member_id: str, name: str, code: str) -> None:
        """Return where it is the code that their PIN came with. Raises WayBackWrong, TooManyTries."""
        self._tries.begin(member_id, name)
        known = self._family.value("SELECT way_back FROM pins WHERE member = ?", (member_id,))
        if known is None or not secrets.compare_digest(known, _digest(code)):
            raise WayBackWrong(name=name, left=self._tries.left(member_id))
        self._tries.succeeded(member_id)

    def check_form(self, pin: str) -> str:
        """A PIN as it is kept. Raises PinFormWrong."""
        digits, settings = _digits(pin), self._settings
        if not (digits.isascii() and digits.isdecimal()) or not (
            settings.least_digits <= len(digits) <= settings.most_digits
        ):
            raise PinFormWrong(least=settings.least_digits, most=settings.most_digits)
        return digits

    def _hasher(self) -> PasswordHasher:
        # Imported here: no command needs it but those of somebody who has a PIN.
        from argon2 import PasswordHasher

        settings = self._settings
        return PasswordHasher(settings.passes, settings.memory_mib * 1024, settings.lanes)


def _digits(pin: str) -> str:
    """A PIN as it is compared: without spaces around it, and the digits of every script in ASCII's."""
    return unicodedata.normalize("NFKC", storable(pin)).strip()


def _digest(code: str) -> str:
    letters = "".join(each for each in code.casefold() if each.isalpha())
    return hashlib.sha256(letters.encode()).hexdigest()
