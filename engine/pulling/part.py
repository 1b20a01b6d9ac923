"""A file that is still arriving: its bytes, in any order, and a journal of those that are certain.

Both lie beside the place where the whole file will be. The journal says of which file they are and which bytes of it
have been synchronised to the disk, so that after any interruption nothing is fetched twice and nothing is taken for
arrived that is not.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from configs.disk import sync, write_whole
from engine.pulling.spans import Spans

PART, JOURNAL = ".part", ".part.json"


@dataclass(frozen=True)
class Identity:
    """Which file it is: what the server said of it. ``address`` is where it was asked for."""

    address: str
    size: int | None
    etag: str | None
    modified: str | None
    sha256: str | None

    def same(self, other: Identity) -> bool:
        """Whether bytes of one may stand beside bytes of the other. Where nothing tells, they may not."""
        if self.size != other.size or self.size is None:
            return False
        if self.sha256 and other.sha256:
            return self.sha256 == other.sha256
        if self.address != other.address:
            return False
        if self.etag or other.etag:
            return self.etag == other.etag
        return self.modified is not None and self.modified == other.modified


class Part:
    """The arriving file ``name``, with ``ending``, in ``folder``. Whoever uses it holds the model's lock."""

    def __init__(self, folder: Path, name: str, ending: str = ".gguf") -> None:
        self.name = name
        self.path = folder / f"{name}{ending}{PART}"
        self._journal = folder / f"{name}{ending}{JOURNAL}"
        self._handle = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        self.spans = Spans()
        self._identity: Identity | None = None
        self._gone = False
        self.beginnings = 0  # how often it was begun anew
        self._read_journal()

    def adopt(self, identity: Identity) -> bool:
        """Go on with the bytes that are there if they are of this file, else begin anew; whether any were dropped."""
        if self._identity is not None and self._identity.same(identity):
            self._identity = identity
            return False
        dropped = len(self.spans) > 0
        self._identity = identity
        self.restart()
        return dropped

    def restart(self) -> None:
        """Begin anew with the same file."""
        self.beginnings += 1
        self._journal.unlink(missing_ok=True)
        self.spans = Spans()
        os.ftruncate(self._handle, 0)
        if self._identity and self._identity.size:
            os.ftruncate(self._handle, self._identity.size)

    def write(self, place: int, content: bytes) -> None:
        """These bytes arrived for ``place``. Raises OSError."""
        view, at = memoryview(content), place
        while view:
            written = os.pwrite(self._handle, view, at)
            view, at = view[written:], at + written
        self.spans.add(place, at)

    def beginning(self) -> int:
        """How many bytes are there from the first on without a gap."""
        return next((end for start, end in self.spans if start == 0), 0)

    def read(self, place: int, count: int) -> bytes:
        """Bytes that are there. Raises OSError."""
        return os.pread(self._handle, count, place)

    def cut(self, size: int) -> None:
        """The file turned out to be ``size`` bytes long."""
        os.ftruncate(self._handle, size)

    def allocated(self) -> int:
        """Bytes that it takes on the disk already."""
        return os.fstat(self._handle).st_blocks * 512

    async def checkpoint(self) -> None:
        """What is there now is certain from here on. Raises OSError."""
        spans = list(self.spans)
        await asyncio.to_thread(os.fsync, self._handle)
        self._write_journal(spans)

    def settle(self) -> None:
        """The same, at the very end of a download that was interrupted; where nothing arrived, nothing is left.

        Where the disk refuses, the journal before holds.
        """
        if self._gone:
            return
        if not len(self.spans):
            self.discard()
            return
        with contextlib.suppress(OSError):
            os.fsync(self._handle)
            self._write_journal(list(self.spans))

    def discard(self) -> None:
        """Throw it away."""
        self._gone = True
        self._journal.unlink(missing_ok=True)
        self.path.unlink(missing_ok=True)

    def finish(self, target: Path) -> None:
        """The file is whole and right: put it in its place, in one step. Raises OSError."""
        os.fsync(self._handle)
        os.replace(self.path, target)
        self._gone = True
        self._journal.unlink(missing_ok=True)
        sync(target.parent)

    def close(self) -> None:
        """Let go of the file; what is there stays."""
        os.close(self._handle)

    def _write_journal(self, spans: list[tuple[int, int]]) -> None:
        if self._identity is None:
            return
        # Whoever writes it holds the model's lock.
        write_whole(self._journal, json.dumps({"file": asdict(self._identity), "spans": spans}).encode(), alone=True)

    def _read_journal(self) -> None:
        """What an earlier try left; nothing where the journal is missing, damaged, or says more than is there."""
        try:
            kept: Mapping[str, Any] = json.loads(self._journal.read_text(encoding="utf-8"))
            identity = Identity(**kept["file"])
            spans = Spans((int(start), int(end)) for start, end in kept["spans"])
        except (OSError, ValueError, TypeError, KeyError):
            return
        longest = max((end for _, end in spans), default=0)
        if longest <= os.fstat(self._handle).st_size and all(start >= 0 for start, _ in spans):
            self._identity, self.spans = identity, spans
