"""A backup as it is read: what is in it, before any of it is believed."""

from __future__ import annotations

import hashlib
import json
import tarfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.backup.bag import ABOUT, BLOCK, DATA, ENCODING, FORMAT, MANIFEST, TAG_MANIFEST, TAGS, is_safe, read_manifest
from app.backup.errors import BackupTooNew, BackupUnreadable, BackupUnsafe
from memory.clock import iso, seconds_of
from memory.migrations import newer

Problem = tuple[str, str]


@dataclass(frozen=True)
class Without:
    """A file that is not in a backup, and why: "left_out" as was wished, "damaged" or "missing" in the home.

    ``bytes`` and ``sha256``: None where they are not known.
    """

    path: str
    why: str
    bytes: int | None
    sha256: str | None


@dataclass(frozen=True)
class About:
    """What a backup says of itself. ``made_at``: as ISO 8601; ``version``: of Enlace; ``snapshot``: the current one's
    id; ``models_bytes``: how much of it are models.
    """

    made_at: str
    version: str
    migrations: tuple[str, ...]
    snapshot: str | None
    models_bytes: int
    without: tuple[Without, ...]


class Bag:
    """An open backup whose structure was looked at: every path in it is safe, and its manifests can be read."""

    def __init__(self, path: Path, tar: tarfile.TarFile) -> None:
        """Raises BackupUnreadable, BackupUnsafe and BackupTooNew."""
        self._path = path
        self._tar = tar
        self._entries = self._listed()
        tags = self._manifest(TAG_MANIFEST, "its end is missing")
        # Of what the bag says of itself nothing is believed that its last manifest does not vouch for.
        self.problems = [
            ("changed", name) for name, digest in tags.items() if name in self._entries and self._digest(name) != digest
        ]
        self.problems += [("missing", name) for name in tags if name not in self._entries]
        self.problems += [("extra", name) for name in sorted(self._entries) if _unnamed(name, tags)]
        self.about = self._about()
        self._wanted = self._manifest(MANIFEST, "its list of files is missing")

    @property
    def files(self) -> dict[str, int]:
        """What it holds of the home, and the size of each in bytes."""
        return {name.removeprefix(DATA): size.size for name, size in self._entries.items() if name.startswith(DATA)}

    @property
    def digests(self) -> dict[str, str]:
        """What the SHA-256 of each must be, by the bag's manifest."""
        return {name.removeprefix(DATA): digest for name, digest in self._wanted.items()}

    def read(self, name: str, take: Callable[[bytes], object]) -> Problem | None:
        """Give a file of the home to ``take``, block by block; what is wrong with it, if anything. Raises OSError."""
        wanted = self._wanted.get(DATA + name)
        if wanted is None:
            return "extra", name
        return None if self._digest(DATA + name, take) == wanted else ("changed", name)

    def missing(self) -> list[Problem]:
        """Files that its manifest names and that are not there."""
        return [("missing", name.removeprefix(DATA)) for name in sorted(self._wanted) if name not in self._entries]

    def _listed(self) -> dict[str, tarfile.TarInfo]:
        found: dict[str, tarfile.TarInfo] = {}
        first, last = "", -1
        while (entry := self._next()) is not None:
            # Only a size below nothing leads back to what was read already, and from there round for ever.
            if entry.size < 0 or entry.offset <= last:
                raise BackupUnreadable(file=str(self._path), reason="a file in it ends before it begins")
            last = entry.offset
            name = entry.name.removeprefix("./")
            top, _, below = name.partition("/")
            if not (entry.isdir() or (entry.isreg() and not entry.issparse())) or not is_safe(name):
                raise BackupUnsafe(file=str(self._path), path=entry.name)
            if entry.isdir():
                continue
            if below in found or (found and top != first) or not (below in TAGS or below.startswith(DATA)):
                raise BackupUnsafe(file=str(self._path), path=entry.name)
            first = top
            found[below] = entry
        return found

    def _next(self) -> tarfile.TarInfo | None:
        with _told_apart(self._path):
            return self._tar.next()

    def _manifest(self, name: str, reason: str) -> dict[str, str]:
        if name not in self._entries:
            raise BackupUnreadable(file=str(self._path), reason=reason)
        try:
            return read_manifest(self._content(name))
        except ValueError as error:
            raise BackupUnreadable(file=str(self._path), reason=str(error)) from error

    def _about(self) -> About:
        if ABOUT not in self._entries:
            raise BackupUnreadable(file=str(self._path), reason="it is none of Enlace's")
        try:
            said: dict[str, Any] = json.loads(self._content(ABOUT).decode(*ENCODING))
            if said["format"] > FORMAT or newer(said["migrations"]):
                raise BackupTooNew(file=str(self._path), version=str(said["version"]))
            return About(
                iso(seconds_of(said["made_at"])),
                str(said["version"]),
                tuple(said["migrations"]),
                said["snapshot"],
                int(said["models_bytes"]),
                tuple(Without(**each) for each in said["without"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise BackupUnreadable(file=str(self._path), reason=f"{ABOUT} cannot be read") from error

    def _content(self, name: str) -> bytes:
        blocks: list[bytes] = []
        self._digest(name, blocks.append)
        return b"".join(blocks)

    def _digest(self, name: str, take: Callable[[bytes], object] | None = None) -> str:
        digest = hashlib.sha256()
        entry = self._entries[name]
        left = entry.size
        with _told_apart(self._path):
            source = self._tar.extractfile(entry)
        while source is not None and left:
            with _told_apart(self._path):
                block = source.read(min(BLOCK, left))
            if not block:
                break
            digest.update(block)
            left -= len(block)
            if take is not None:
                take(block)
        return digest.hexdigest()


@contextmanager
def open_bag(path: Path) -> Iterator[Bag]:
    """Open a backup. Raises BackupUnreadable, BackupUnsafe, BackupTooNew."""
    with ExitStack() as stack:
        with _told_apart(path):
            tar = stack.enter_context(tarfile.open(path, "r:", encoding=ENCODING[0], errors=ENCODING[1]))
        yield Bag(path, tar)


@contextmanager
def _told_apart(path: Path) -> Iterator[None]:
    """Have what keeps the backup from being read raised as that, and not as what keeps its files from being written."""
    try:
        yield
    except (OSError, tarfile.TarError, ValueError, OverflowError, RecursionError) as error:
        # tarfile says only of some of what it cannot make out in a header that it is an error of the tar.
        reason = (isinstance(error, OSError) and error.strerror) or str(error)
        raise BackupUnreadable(file=str(path), reason=reason) from error


def _unnamed(name: str, tags: dict[str, str]) -> bool:
    return not name.startswith(DATA) and name != TAG_MANIFEST and name not in tags
