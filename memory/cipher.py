"""SQLCipher, where it is installed: SQLite files of which every page is encrypted and authenticated.

https://www.zetetic.net/sqlcipher/sqlcipher-api/. It is optional; nobody without an encrypted file needs it.
"""

from __future__ import annotations

import sqlite3
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from memory.entrance_errors import EncryptionMissing
from memory.errors import DatabaseReadOnly

SALT_BYTES: Final = 16
KEY_BYTES: Final = 32
_MODULE: Final = "sqlcipher3.dbapi2"
# https://sqlite.org/fileformat.html, 1.3.1; an encrypted file begins with its salt instead.
_PLAIN: Final = b"SQLite format 3\0"


def module() -> Any:
    """What ``sqlite3`` is for files that are not encrypted. Raises EncryptionMissing where it is not installed."""
    try:
        from sqlcipher3 import dbapi2
    except ImportError as error:
        raise EncryptionMissing from error
    return dbapi2


def database_errors() -> tuple[type[Exception], ...]:
    """What a database may raise: SQLCipher's errors are not ``sqlite3``'s."""
    loaded = sys.modules.get(_MODULE)
    return (sqlite3.Error,) if loaded is None else (sqlite3.Error, loaded.Error)


def key_text(key: bytes, salt: bytes) -> str:
    """A key of 32 bytes as it is handed over: derived already, with the salt that the file begins with."""
    return f"x'{key.hex()}{salt.hex()}'"


def connect(path: Path, key: str, busy_seconds: float, pragmas: Sequence[str] = ()) -> Any:
    """A connection to the encrypted file ``path``; "" for a plain one. Raises EncryptionMissing and SQLCipher's."""
    dbapi2 = module()
    connection = dbapi2.connect(
        str(path), timeout=busy_seconds, isolation_level=None, check_same_thread=False, cached_statements=256
    )
    # It would write into the terminal, in which a screen may be drawn, what is told as an error anyway.
    connection.execute("PRAGMA cipher_log_level = NONE")
    if key:
        connection.execute(f'PRAGMA key = "{key}"')
        connection.execute("PRAGMA cipher_compatibility = 4")
    for pragma in pragmas:
        connection.execute(pragma)
    connection.row_factory = dbapi2.Row
    return connection


# Files that this process has open, how often, and what they begin with.
_open_here: dict[Path, tuple[int, bytes | None]] = {}
_lock = threading.Lock()


def salt_of(path: Path) -> bytes | None:
    """What the file begins with where it is no plain database: the salt, if it is an encrypted one. Raises OSError."""
    with _lock:
        if path in _open_here:
            # To close it again would drop the locks that this process has on it (https://sqlite.org/howtocorrupt.html,
            # 2.2).
            return _open_here[path][1]
        try:
            with path.open("rb") as file:
                return salt_in(file.read(SALT_BYTES))
        except FileNotFoundError:
            return None


def given_salt(path: Path) -> bytes | None:
    """The same. Raises DatabaseReadOnly where the system does not give the file out."""
    try:
        return salt_of(path)
    except OSError as error:
        raise DatabaseReadOnly(path=str(path), reason=error.strerror or str(error)) from error


def salt_in(content: bytes) -> bytes | None:
    """What ``salt_of`` says, of a file's content."""
    begins = content[:SALT_BYTES]
    return None if len(begins) < SALT_BYTES or begins == _PLAIN else begins


def opened(path: Path, salt: bytes | None) -> None:
    """This process has a connection to the file from now on, one more perhaps."""
    with _lock:
        count, _ = _open_here.get(path, (0, None))
        _open_here[path] = (count + 1, salt)


def is_open_here(path: Path) -> bool:
    """Whether this process has a connection to the file: of SQLite's locks, SQLCipher sees only other processes'."""
    with _lock:
        return path in _open_here


def closed(path: Path) -> None:
    """And one less."""
    with _lock:
        count, salt = _open_here.get(path, (0, None))
        if count > 1:
            _open_here[path] = (count - 1, salt)
        else:
            _open_here.pop(path, None)
