"""Reading a document's bytes in a process of its own, which ends where a file would not."""

from __future__ import annotations

import json
import select
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Self

from configs.sections.documents import DocumentsSettings
from memory.documents.errors import DocumentProblem, DocumentTooHard
from memory.documents.formats import Format
from memory.documents.found import Reading
from memory.documents.readers.travel import from_json

_ROOT: Final = Path(__file__).resolve().parents[2]
_BLOCK: Final = 1 << 16


class Reader:
    """Use as a context manager. The process is started with the first document and again after one that ended it."""

    def __init__(self, settings: DocumentsSettings) -> None:
        self._settings = settings
        self._process: subprocess.Popen[bytes] | None = None

    def read(self, form: Format, content: bytes) -> Reading:
        """What a document of these bytes holds. Raises DocumentProblem."""
        limits = self._settings
        wish = {
            "format": form,
            "bytes": len(content),
            "characters": limits.characters,
            "unpacked_mb": limits.unpacked_mb,
            "seconds": limits.read_seconds,
        }
        process = self._running()
        try:
            line = _answer(process, json.dumps(wish).encode() + b"\n" + content, limits.read_seconds)
            told = json.loads(line)
        except (OSError, ValueError, TimeoutError) as error:
            self.close()
            raise DocumentTooHard(seconds=limits.read_seconds) from error
        if "error" in told:
            raise problem_of(told["error"]["code"], told["error"]["facts"])
        reading = from_json(told["reading"])
        return reading if len(reading.text) <= limits.characters else _cut(reading, limits.characters)

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self.close()
            command = [sys.executable, "-m", "memory.documents.readers.child", str(self._settings.reader_mb)]
            self._process = subprocess.Popen(
                command, cwd=_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        return self._process


def problem_of(code: str, facts: dict[str, str | int | float]) -> DocumentProblem:
    """The problem of a document with this code, as another process told it or as it is on record."""
    kinds = {kind.code: kind for kind in DocumentProblem.__subclasses__()}
    return kinds.get(code, DocumentProblem)(**facts)


def _cut(reading: Reading, characters: int) -> Reading:
    """A text that is far too long is read as far as it goes; what its records say of later places is left out."""
    from dataclasses import replace

    from memory.documents.found import Remark

    remark = Remark("cut", {"characters": characters})
    pages = tuple(start for start in reading.pages if start < characters)
    return replace(reading, text=reading.text[:characters], pages=pages, remarks=(*reading.remarks, remark))


def _answer(process: subprocess.Popen[bytes], asked: bytes, seconds: float) -> bytes:
    """The line that answers; a thread writes, neither side may wait for the other. Raises OSError, TimeoutError."""
    into, out = process.stdin, process.stdout
    if into is None or out is None:
        raise OSError("the reader has no pipes")
    writer = threading.Thread(target=_write, args=(into, asked), daemon=True)
    writer.start()
    deadline, line = time.monotonic() + seconds, bytearray()
    while not line.endswith(b"\n"):
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([out], [], [], left)[0]:
            raise TimeoutError
        block = out.read1(_BLOCK) if hasattr(out, "read1") else out.read(1)
        if not block:
            raise OSError("the reader has ended")
        line += block
    writer.join()
    return bytes(line)


def _write(into: IO[bytes], asked: bytes) -> None:
    try:
        into.write(asked)
        into.flush()
    except OSError:
        # It has ended: whoever reads its answer sees that.
        return
