"""Files into lines of text, a block at a time: UTF-8, UTF-16 with its mark, and what older programs wrote."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, cast

from trainer.corpus.readers.document import Problem

# The longest piece of a line that is in memory at once; a file without line ends is read in such pieces.
PIECE: Final = 1 << 20
_PACKED: Final = (".gz", ".bz2", ".xz")
# What those raise for a file that is damaged or cut.
DAMAGED: Final = (EOFError, OSError, lzma.LZMAError, ValueError)
# Bytes of a line that are looked at one by one before it is taken to be of older programs as a whole.
_MENDED: Final = 64
_UTF8_AT_MOST: Final = 4
_NUL: Final = b"\0"


@dataclass
class Decoding:
    """``older``: lines that were not UTF-8 so far."""

    older: int = 0

    def text(self, raw: bytes) -> str:
        """A line as text. Bytes that are no UTF-8 are what Windows programs wrote, and are counted."""
        try:
            return raw.decode()
        except UnicodeDecodeError:
            self.older += 1
        pieces: list[str] = []
        for _ in range(_MENDED):
            try:
                return "".join([*pieces, raw.decode()])
            except UnicodeDecodeError as error:
                end = error.end
                pieces += [raw[: error.start].decode(), raw[error.start : end].decode("cp1252", errors="replace")]
                raw = raw[end:]
        return "".join([*pieces, raw.decode("cp1252", errors="replace")])


def opened(path: Path) -> IO[bytes]:
    """The file as it is when unpacked: .gz, .bz2 and .xz on the way. Raises OSError."""
    match path.suffix.lower():
        case ".gz":
            return cast(IO[bytes], gzip.GzipFile(path))
        case ".bz2":
            return bz2.BZ2File(path)
        case ".xz":
            return lzma.LZMAFile(path)
    return path.open("rb")


def plain_name(path: Path) -> str:
    """The file's name without what says that it is packed, in small letters."""
    name = path.name.lower()
    return name.removesuffix(path.suffix.lower()) if path.suffix.lower() in _PACKED else name


def lines_of(path: Path, decoding: Decoding) -> Iterator[str | Problem]:
    """The lines of a text without their ends; one longer than ``PIECE`` in several. A problem comes last."""
    try:
        with opened(path) as file:
            begin = file.read(len(codecs.BOM_UTF8))
            if begin[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
                encoding = "utf-16-le" if begin[:2] == codecs.BOM_UTF16_LE else "utf-16-be"
                # What was read of the first letter goes before the rest.
                rest = io.BufferedReader(_Before(begin[2:], file))
                yield from _of_text(io.TextIOWrapper(rest, encoding=encoding, errors="replace"))
                return
            carried = b"" if begin == codecs.BOM_UTF8 else begin
            while raw := file.readline(PIECE):
                raw, carried = carried + raw, b""
                if _NUL in raw:
                    yield Problem(str(path), "it is no text")
                    return
                if not raw.endswith(b"\n"):
                    raw, carried = _whole_letters(raw)
                yield from decoding.text(raw).rstrip("\r\n").split("\r")
            if carried:
                yield decoding.text(carried)
    except DAMAGED as error:
        yield Problem(str(path), getattr(error, "strerror", None) or "it is damaged or cut short")


class _Before(io.RawIOBase):
    """``begin``, then what is left of ``file``."""

    def __init__(self, begin: bytes, file: IO[bytes]) -> None:
        self._begin, self._file = begin, file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        found = self._begin or self._file.read(len(buffer))
        self._begin = found[len(buffer) :]
        found = found[: len(buffer)]
        buffer[: len(found)] = found
        return len(found)


def _of_text(file: io.TextIOWrapper) -> Iterator[str]:
    while line := file.readline(PIECE):
        yield line.rstrip("\r\n")


def _whole_letters(raw: bytes) -> tuple[bytes, bytes]:
    """The bytes up to the last letter that is whole, and those of one that was cut."""
    for back in range(1, min(_UTF8_AT_MOST, len(raw)) + 1):
        lead = raw[-back]
        if lead < 0x80:
            break
        if lead >= 0xC0:
            length = 2 + (lead >= 0xE0) + (lead >= 0xF0)
            return (raw[:-back], raw[-back:]) if length > back else (raw, b"")
    return raw, b""
