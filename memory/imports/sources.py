"""The files in which conversations may be: a JSON file, a folder that was unpacked, or an archive as it was fetched.

Nothing is ever unpacked on the disk: what is in an archive is read piece by piece, so that neither a name in it nor
what it swells to can do harm.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Final

from configs.sections.memory import ImportSettings
from memory.errors import ExportDamaged, ExportTooLarge, FileUnreadable

_BLOCK: Final = 1 << 20
_MEGABYTE: Final = 1_000_000
# As ChatGPT and Claude call them, also where one is cut into several, and as Enlace does.
_CONVERSATIONS: Final = re.compile(r"conversations?(?:[-_ ]?\(?\d+\)?)?\.jsonl?", re.IGNORECASE)
_JSON: Final = re.compile(r"[^.].*\.jsonl?", re.IGNORECASE)
_ENCRYPTED: Final = 0x1


@dataclass(frozen=True)
class Part:
    """One JSON file. ``name``: how a person finds it; ``size``: bytes of it, unpacked; ``blocks``: read it anew."""

    name: str
    size: int
    blocks: Callable[[], Iterator[bytes]]


@contextmanager
def parts_of(path: Path, settings: ImportSettings) -> Iterator[list[Part]]:
    """The JSON files that ``path`` is or holds: those with conversations by their name, else all of them.

    Raises FileUnreadable and ExportDamaged, also while they are read, and ExportTooLarge.
    """
    with ExitStack() as stack:
        with _readable(path):
            if path.is_dir():
                found = [_plain(each) for each in sorted(path.iterdir()) if each.is_file()]
            elif path.stat() and not path.is_file():
                # A pipe could be read once only, and what is wrong in it would be found too late.
                raise FileUnreadable(path=str(path), reason="not a file")
            elif zipfile.is_zipfile(path):
                found = _archived(path, stack.enter_context(zipfile.ZipFile(path)))
            else:
                yield _bounded([_plain(path)], settings)
                return
        named = [part for part in found if _CONVERSATIONS.fullmatch(PurePosixPath(part.name).name)]
        yield _bounded(named or [part for part in found if _JSON.fullmatch(PurePosixPath(part.name).name)], settings)


def _bounded(parts: list[Part], settings: ImportSettings) -> list[Part]:
    size, limit = sum(part.size for part in parts), settings.file_megabytes * _MEGABYTE
    if size > limit:
        raise ExportTooLarge(megabytes=size // _MEGABYTE, limit=settings.file_megabytes)
    return parts


def _plain(path: Path) -> Part:
    def blocks() -> Iterator[bytes]:
        with _readable(path), path.open("rb") as file:
            yield from _read(file)

    return Part(path.name, path.stat().st_size, blocks)


def _archived(path: Path, archive: zipfile.ZipFile) -> list[Part]:
    def part(entry: zipfile.ZipInfo) -> Part:
        def blocks() -> Iterator[bytes]:
            with _readable(path):
                if entry.flag_bits & _ENCRYPTED:
                    raise ExportDamaged(path=str(path), reason="it is locked with a password")
                # More than the archive promised is not read: zipfile stops there, and the checksum is wrong then.
                with archive.open(entry) as file:
                    yield from _read(file)

        return Part(entry.filename, entry.file_size, blocks)

    entries = (entry for entry in archive.infolist() if not entry.is_dir())
    # What macOS keeps beside each file has its name and is none of them.
    return [part(entry) for entry in entries if not entry.filename.startswith("__MACOSX/")]


def _read(file: IO[bytes]) -> Iterator[bytes]:
    while block := file.read(_BLOCK):
        yield block


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise FileUnreadable(path=str(path), reason=error.strerror or str(error)) from error
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, UnicodeDecodeError) as error:
        raise ExportDamaged(path=str(path), reason="it is not whole") from error
