"""The artifact store: files named by their content, immutable once they are there."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import io
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from configs.disk import sync
from configs.home import Home
from configs.locks import take_lock
from memory.clock import Clock
from memory.errors import ArtifactDamaged, ArtifactMissing, DatabaseReadOnly, DiskFull

_BLOCK = 1 << 20
_DIGEST_LENGTH = 64


@dataclass(frozen=True)
class Stored:
    """An object of the store. ``stored_at``: when it was last put there, in seconds since 1970."""

    digest: str
    bytes: int
    stored_at: float


class ArtifactStore:
    """``store/sha256/ab/…`` of one home. A digest is the SHA-256 of the content, 64 lower-case hex digits."""

    def __init__(self, home: Home, *, clock: Clock, unfinished_seconds: float) -> None:
        self._home = home
        self._clock = clock
        self._unfinished_seconds = unfinished_seconds

    def put_bytes(self, content: bytes) -> str:
        """Store ``content``; its digest. Raises DiskFull, DatabaseReadOnly, and then nothing was stored."""
        return self._put(io.BytesIO(content))

    def put_file(self, path: Path) -> str:
        """Store a copy of a file; its digest. Raises DiskFull, DatabaseReadOnly, OSError if it cannot be read."""
        with path.open("rb") as source:
            return self._put(source)

    def path(self, digest: str) -> Path:
        """Where the artifact is, unverified. Raises ArtifactMissing."""
        path = self._home.artifact(digest)
        if not _is_digest(digest) or not path.is_file():
            raise ArtifactMissing(digest=digest, path=str(path))
        return path

    def open(self, digest: str) -> BinaryIO:
        """The artifact for reading, after all of it was verified. Raises ArtifactMissing, ArtifactDamaged."""
        path = self.path(digest)
        file = path.open("rb")
        if hashlib.file_digest(file, "sha256").hexdigest() != digest:
            file.close()
            raise ArtifactDamaged(digest=digest, path=str(path))
        file.seek(0)
        return file

    def read_bytes(self, digest: str) -> bytes:
        """All of the artifact, verified. Raises ArtifactMissing, ArtifactDamaged."""
        with self.open(digest) as file:
            return file.read()

    def verify(self, digest: str) -> None:
        """Raises ArtifactMissing, ArtifactDamaged."""
        self.open(digest).close()

    def remove(self, digest: str) -> None:
        """Give back the room of an artifact that can be made again. Raises DatabaseReadOnly."""
        try:
            # Without a store nothing is in it.
            with contextlib.suppress(FileNotFoundError), _locked(self._home, fcntl.LOCK_EX):
                self._home.artifact(digest).unlink()
        except OSError as error:
            raise DatabaseReadOnly(path=str(self._home.store), reason=error.strerror or str(error)) from error

    def objects(self) -> list[Stored]:
        """All that is in the store, unverified."""
        found = []
        for path in sorted((self._home.store / "sha256").glob("??/*")):
            digest = path.parent.name + path.name
            if (stored := self._stored(digest)) is not None:
                found.append(stored)
        return found

    def remove_listed(self, objects: Iterable[Stored], waits: Callable[[], None] = lambda: None) -> list[Stored]:
        """Remove what ``objects`` listed, but for what was stored again since; what was removed.

        Whoever stores one of them meanwhile finds it there, or stores it anew. ``waits`` is called before it waits for
        a backup that is being made, or for what is being stored. Raises DatabaseReadOnly.
        """
        removed = []
        try:
            with _locked(self._home, fcntl.LOCK_EX, waits):
                for stored in objects:
                    if self._stored(stored.digest) == stored:
                        self._home.artifact(stored.digest).unlink()
                        removed.append(stored)
        except OSError as error:
            raise DatabaseReadOnly(path=str(self._home.store), reason=error.strerror or str(error)) from error
        return removed

    def sweep(self) -> int:
        """Remove files that a writer left unfinished long ago; how many there were."""
        oldest = self._clock() - self._unfinished_seconds
        removed = 0
        for path in self._aside.glob("*"):
            try:
                left = path.stat().st_mtime < oldest
            except FileNotFoundError:
                # Its writer has just put it in its place.
                continue
            if left:
                path.unlink(missing_ok=True)
                removed += 1
        return removed

    @property
    def _aside(self) -> Path:
        return self._home.store / "tmp"

    def _put(self, source: BinaryIO | io.BytesIO) -> str:
        aside = self._aside / os.urandom(16).hex()
        try:
            self._aside.mkdir(mode=0o700, parents=True, exist_ok=True)
            digest = self._copy(source, aside)
            place = self._home.artifact(digest)
            with _locked(self._home, fcntl.LOCK_SH):
                if place.is_file() and _digest_of(place) == digest:
                    # Somebody needs it again: it is as new as one that was not there.
                    os.utime(place)
                    return digest
                place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                aside.replace(place)
            # The name is on the disk only when its folder is.
            sync(place.parent)
            return digest
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                raise DiskFull(path=str(self._home.store)) from error
            raise DatabaseReadOnly(path=str(self._home.store), reason=error.strerror or str(error)) from error
        finally:
            aside.unlink(missing_ok=True)

    def _stored(self, digest: str) -> Stored | None:
        if not _is_digest(digest):
            return None
        try:
            stat = self._home.artifact(digest).stat()
        except FileNotFoundError:
            return None
        return Stored(digest, stat.st_size, stat.st_mtime)

    def _copy(self, source: BinaryIO | io.BytesIO, aside: Path) -> str:
        digest = hashlib.sha256()
        with open(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as target:
            while block := source.read(_BLOCK):
                digest.update(block)
                target.write(block)
            target.flush()
            os.fchmod(target.fileno(), 0o400)
            os.fsync(target.fileno())
        return digest.hexdigest()


@contextmanager
def undisturbed(home: Home) -> Iterator[None]:
    """As long as this lasts, nobody removes old objects from the store of ``home``; whoever wants to, waits."""
    with ExitStack() as stack:
        # Where nothing can be written, nothing can be removed.
        with contextlib.suppress(OSError):
            stack.enter_context(_locked(home, fcntl.LOCK_SH))
        yield


@contextmanager
def _locked(home: Home, how: int, waits: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Keep apart who puts an object in its place and who removes old ones; ``waits``: called first. Raises OSError."""
    with open(os.open(home.store / "lock", os.O_WRONLY | os.O_CREAT, 0o600), "wb") as lock:
        if not take_lock(lock, how):
            waits()
            fcntl.flock(lock, how)
        yield


def _digest_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _is_digest(text: str) -> bool:
    return len(text) == _DIGEST_LENGTH and all(c in "0123456789abcdef" for c in text)
