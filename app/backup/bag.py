"""The form of a backup: a tar with one bag in it, as RFC 8493 (BagIt) describes it.

``NAME/data/`` holds the home's files as they lie in the home, ``NAME/manifest-sha256.txt`` the SHA-256 of each, in the
form that ``sha256sum --check`` reads, and ``NAME/tagmanifest-sha256.txt``, which is written last, that of every file
beside ``data``: where that one is right, all of it is there.
"""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Callable, Container, Mapping
from pathlib import PurePath, PurePosixPath
from typing import Any, BinaryIO, Final, Protocol

from memory.clock import iso

FORMAT: Final = 1
DATA: Final = "data/"
MANIFEST: Final = "manifest-sha256.txt"
TAG_MANIFEST: Final = "tagmanifest-sha256.txt"
ABOUT: Final = "enlace.json"
README: Final = "README.txt"
DECLARATION: Final = "bagit.txt"
INFO: Final = "bag-info.txt"
TAGS: Final = frozenset({DECLARATION, INFO, README, ABOUT, MANIFEST, TAG_MANIFEST})
BLOCK: Final = 1 << 20
PRIVATE: Final = 0o600
IMMUTABLE: Final = 0o400
ENCODING: Final = ("utf-8", "surrogateescape")
_DECLARED: Final = b"BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n"
# RFC 8493, 2.1.3: what would break a line of a manifest, and the sign that stands before such.
_ESCAPED: Final = {"%": "%25", "\n": "%0A", "\r": "%0D"}


class Readable(Protocol):
    """What a file is copied from."""

    def read(self, size: int, /) -> bytes:
        """The next bytes, none at the end."""
        ...


class BagWriter:
    """Writes a bag into a file that can be read back and cut. Everything in it is readable by its owner alone."""

    def __init__(self, file: BinaryIO, top: str, made_at: float, moved: Callable[[int], None]) -> None:
        """``top``: the bag's own name; ``made_at``: seconds since 1970; ``moved`` is told of bytes as they come."""
        self._file = file
        self._top = top
        self._made_at = int(made_at)
        self._moved = moved
        self._payload: dict[str, str] = {}
        self._tags: dict[str, str] = {}
        self.bytes = 0
        folder = tarfile.TarInfo(top)
        folder.type, folder.mode, folder.mtime = tarfile.DIRTYPE, 0o700, self._made_at
        file.write(_header(folder))

    @property
    def payload(self) -> dict[str, str]:
        """The SHA-256 of each file of the home that is in it, by its path there."""
        return {name.removeprefix(DATA): digest for name, digest in self._payload.items()}

    @property
    def files(self) -> int:
        """How many files of the home are in it."""
        return len(self._payload)

    def add(
        self, name: str, source: Readable, size: int, *, mode: int, changed_at: float, wanted: Container[str] | None
    ) -> str | None:
        """Copy a file of the home under the ``name`` that it has there; its SHA-256.

        ``size``: in bytes; what comes after that is left. None where ``source`` ends before that. Nothing is added
        then, nor where the SHA-256 is none of ``wanted``; without those, any will do. Raises OSError.
        """
        start = self._file.tell()
        digest = self._copy(DATA + name, source, size, mode, int(changed_at))
        if digest is None or (wanted is not None and digest not in wanted):
            self._file.seek(start)
            self._file.truncate()
            return digest
        self._payload[DATA + name] = digest
        self.bytes += size
        return digest

    def finish(self, about: Mapping[str, Any], readme: str) -> None:
        """Write what the bag says of itself, and last of all the hash of that. Raises OSError."""
        info = (
            f"Bagging-Date: {iso(self._made_at)[:10]}\n"
            f"Payload-Oxum: {self.bytes}.{len(self._payload)}\n"
            f"Bag-Software-Agent: Enlace {about['version']}\n"
        )
        self._tag(DECLARATION, _DECLARED)
        self._tag(README, readme.encode(*ENCODING))
        self._tag(INFO, info.encode())
        said = json.dumps(dict(about), ensure_ascii=False, indent=1, sort_keys=True) + "\n"
        self._tag(ABOUT, said.encode(*ENCODING))
        self._tag(MANIFEST, manifest_lines(self._payload))
        self._tag(TAG_MANIFEST, manifest_lines(self._tags))
        # The end of a tar: two empty blocks, and as many more as fill the last record.
        self._file.write(bytes(2 * tarfile.BLOCKSIZE))
        self._file.write(bytes(-self._file.tell() % tarfile.RECORDSIZE))

    def _tag(self, name: str, content: bytes) -> None:
        self._copy(name, io.BytesIO(content), len(content), PRIVATE, self._made_at)
        self._tags[name] = hashlib.sha256(content).hexdigest()

    def _copy(self, name: str, source: Readable, size: int, mode: int, changed_at: int) -> str | None:
        entry = tarfile.TarInfo(f"{self._top}/{name}")
        entry.size, entry.mode, entry.mtime = size, mode, changed_at
        self._file.write(_header(entry))
        digest, left = hashlib.sha256(), size
        while left:
            block = source.read(min(BLOCK, left))
            if not block:
                return None
            digest.update(block)
            self._file.write(block)
            left -= len(block)
            self._moved(len(block))
        self._file.write(bytes(-size % tarfile.BLOCKSIZE))
        return digest.hexdigest()


def manifest_lines(digests: Mapping[str, str]) -> bytes:
    """A manifest of paths and their SHA-256, by path."""
    lines = (f"{digests[path]}  {_escaped(path)}\n" for path in sorted(digests))
    return "".join(lines).encode(*ENCODING)


def read_manifest(content: bytes) -> dict[str, str]:
    """The reverse of ``manifest_lines``. Raises ValueError."""
    found: dict[str, str] = {}
    for line in content.decode(*ENCODING).split("\n")[:-1]:
        # One or more blanks, and an asterisk where md5sum's like was told that it is no text (RFC 8493, 2.1.3).
        digest, blank, path = line.partition(" ")
        path = path.lstrip(" \t").removeprefix("*")
        if not blank or not path or path in found:
            raise ValueError("a line of a manifest cannot be read")
        found[_plain(path)] = digest.lower()
    return found


def top_of(file: PurePath) -> str:
    """What the folder in a backup is called that is written to ``file``: as that, without the ending."""
    return file.stem if is_safe(file.stem) else file.name


def is_safe(name: str) -> bool:
    """Whether a path stays below the folder that it is taken from and means one file there, as POSIX reads it."""
    parts = PurePosixPath(name).parts
    return (
        bool(parts)
        and str(PurePosixPath(*parts)) == name
        and not name.startswith("/")
        and ".." not in parts
        and "\0" not in name
    )


def _escaped(path: str) -> str:
    return "".join(_ESCAPED.get(letter, letter) for letter in path)


def _plain(path: str) -> str:
    for plain, escaped in reversed(_ESCAPED.items()):
        path = path.replace(escaped, plain).replace(escaped.lower(), plain)
    return path


def _header(entry: tarfile.TarInfo) -> bytes:
    return entry.tobuf(tarfile.PAX_FORMAT, *ENCODING)
