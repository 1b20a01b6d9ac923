"""How the key of an encrypted member's file comes of their passphrase: Argon2id (RFC 9106), once for each opening.

The passphrase is nowhere on the disk, nor is the key. A seal belongs to the file that begins with its salt: so which of
two is in force while a passphrase is changed, the file itself says.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from configs.sections.entrance import EntranceSettings
from memory.cipher import KEY_BYTES, SALT_BYTES, given_salt, key_text
from memory.clock import Clock
from memory.database import Database, Row
from memory.entrance_errors import PassphraseFormWrong

_PROOF: Final = b"Enlace: the key of a member's file"


@dataclass(frozen=True)
class Seal:
    """``salt``: 16 bytes; ``passes``, ``memory_kib`` and ``lanes``: Argon2id's; ``proof``: of the key, not the key."""

    salt: bytes
    passes: int
    memory_kib: int
    lanes: int
    proof: str

    def key(self, passphrase: str) -> str | None:
        """The key as SQLCipher takes it; None where the passphrase is another."""
        key = self._derived(passphrase)
        return key_text(key, self.salt) if hmac.compare_digest(self.proof, _proof(key)) else None

    def _derived(self, passphrase: str) -> bytes:
        return _derived(passphrase, self.salt, self.passes, self.memory_kib, self.lanes)


class Seals:
    """Of one household. ``file_of``: where the file of a member (an id) is."""

    def __init__(
        self, family: Database, settings: EntranceSettings, clock: Clock, file_of: Callable[[str], Path]
    ) -> None:
        self._family = family
        self._settings = settings
        self._clock = clock
        self._file_of = file_of

    def of(self, member_id: str) -> Seal | None:
        """That of their file as it is now; None where it is not encrypted, or with nothing that is known here."""
        salt = given_salt(self._file_of(member_id))
        if salt is None:
            return None
        row = self._family.row("SELECT * FROM seals WHERE member = ? AND salt = ?", (member_id, salt.hex()))
        return None if row is None else _seal(row)

    def add(self, member_id: str, passphrase: str) -> tuple[bytes, str]:
        """A seal for a file that is to be written, on record before that is begun: its salt and its key.

        Raises PassphraseFormWrong.
        """
        settings = self._settings
        if not settings.least_characters <= len(_same(passphrase)) <= settings.most_characters:
            raise PassphraseFormWrong(least=settings.least_characters, most=settings.most_characters)
        salt, numbers = secrets.token_bytes(SALT_BYTES), (settings.passes, settings.memory_mib * 1024, settings.lanes)
        key = _derived(passphrase, salt, *numbers)
        self._family.run(
            "INSERT INTO seals (salt, member, passes, memory_kib, lanes, proof, made_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (salt.hex(), member_id, *numbers, _proof(key), self._clock()),
        )
        return salt, key_text(key, salt)

    def clear(self, member_id: str) -> None:
        """Forget those that their file does not begin with."""
        salt = given_salt(self._file_of(member_id))
        values = (member_id, salt.hex() if salt else "")
        self._family.run("DELETE FROM seals WHERE member = ? AND salt <> ?", values)


def _seal(row: Row) -> Seal:
    return Seal(bytes.fromhex(row["salt"]), row["passes"], row["memory_kib"], row["lanes"], row["proof"])


def _derived(passphrase: str, salt: bytes, passes: int, memory_kib: int, lanes: int) -> bytes:
    # Imported here: only who has a passphrase waits for it.
    from argon2.low_level import Type, hash_secret_raw

    # A terminal that does not speak UTF-8 hands its bytes over as surrogates, which are as much of a secret as others.
    typed = _same(passphrase).encode(errors="surrogatepass")
    return hash_secret_raw(typed, salt, passes, memory_kib, lanes, KEY_BYTES, Type.ID)


def _same(passphrase: str) -> str:
    """The passphrase whichever keyboard or system it was typed on: é is one letter or two."""
    return unicodedata.normalize("NFKC", passphrase).strip()


def _proof(key: bytes) -> str:
    return hmac.new(key, _PROOF, hashlib.sha256).hexdigest()
