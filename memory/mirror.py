"""The objects of the store that snapshots need, at another address too: a folder, or whatever else fsspec reaches.

There an object lies as it does here, ``sha256/ab/…``, and is as immutable: one that is there is never written again.
What comes back is held to its hash, so that a mirror need not be trusted with more than keeping it.
"""

from __future__ import annotations

import contextlib
import hashlib
import tempfile
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from configs.errors import EnlaceError
from configs.home import Home
from memory.artifacts import ArtifactStore
from memory.errors import ArtifactDamaged, ArtifactMissing, MirrorDamaged, MirrorUnreachable


@dataclass(frozen=True)
class Mirrored:
    """Digests: ``copied`` now, ``there`` before; ``missing``: neither here nor there as they should be."""

    copied: tuple[str, ...]
    there: tuple[str, ...]
    missing: tuple[str, ...] = ()


class Mirror:
    """At ``address``: a folder's path, or a URL such as ``s3://bucket/enlace``. Raises MirrorUnreachable."""

    def __init__(self, home: Home, artifacts: ArtifactStore, address: str) -> None:
        self._home = home
        self._artifacts = artifacts
        self._address = address
        try:
            # Only who mirrors needs it, and what it needs for an address it may not have.
            import fsspec

            self._files: Any
            self._files, self._root = fsspec.core.url_to_fs(address)
        except (ImportError, ValueError) as error:
            raise MirrorUnreachable(address=address, reason=str(error)) from error

    def push(self, digests: Iterable[str]) -> Mirrored:
        """Copy there what is not there yet, each verified before. Raises MirrorUnreachable, ArtifactMissing,
        ArtifactDamaged.
        """
        copied, there = [], []
        for digest in digests:
            path = self._artifacts.path(digest)
            with self._reaching():
                if self._size(digest) == path.stat().st_size:
                    there.append(digest)
                    continue
            self._artifacts.verify(digest)
            with self._reaching():
                self._put(path, digest)
            copied.append(digest)
        return Mirrored(tuple(copied), tuple(there))

    def fetch(self, digests: Iterable[str]) -> Mirrored:
        """Bring back what is missing here, or damaged. Raises MirrorUnreachable, MirrorDamaged, DiskFull,
        DatabaseReadOnly.
        """
        copied, there, missing = [], [], []
        for digest in digests:
            with contextlib.suppress(ArtifactMissing, ArtifactDamaged):
                self._artifacts.verify(digest)
                there.append(digest)
                continue
            with self._reaching():
                found = self._size(digest) is not None
            if found:
                self._get(digest)
                copied.append(digest)
            else:
                missing.append(digest)
        return Mirrored(tuple(copied), tuple(there), tuple(missing))

    def _path(self, digest: str) -> str:
        return f"{self._root}/sha256/{digest[:2]}/{digest[2:]}"

    def _size(self, digest: str) -> int | None:
        """Bytes of the object there; None where it is not."""
        try:
            return int(self._files.size(self._path(digest)))
        except FileNotFoundError:
            return None

    def _put(self, path: Path, digest: str) -> None:
        """Whole or not there: written aside, since not every place writes in one step."""
        target = self._path(digest)
        aside = f"{target}.{uuid.uuid4().hex}.part"
        self._files.makedirs(target.rpartition("/")[0], exist_ok=True)
        try:
            self._files.put_file(str(path), aside)
            self._files.mv(aside, target)
        finally:
            with contextlib.suppress(OSError):
                if self._files.exists(aside):
                    self._files.rm_file(aside)

    def _get(self, digest: str) -> None:
        with tempfile.TemporaryDirectory(dir=self._home.store, prefix=".") as folder:
            path = Path(folder) / "object"
            with self._reaching():
                self._files.get_file(self._path(digest), str(path))
            with path.open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
            if found != digest:
                raise MirrorDamaged(address=self._address, digest=digest)
            self._artifacts.put_file(path)

    @contextlib.contextmanager
    def _reaching(self) -> Iterator[None]:
        """What the address's own library raises is as manifold as the addresses."""
        try:
            yield
        except EnlaceError:
            raise
        except Exception as error:
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise MirrorUnreachable(address=self._address, reason=str(reason)) from error
