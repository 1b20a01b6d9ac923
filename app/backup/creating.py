"""Making a backup of a home in which everything may be running."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO

from app.backup.aside import aside, check_room
from app.backup.bag import FORMAT, BagWriter, top_of
from app.backup.checking import Tell
from app.backup.contents import within
from app.backup.errors import BackupExists, BackupInsideHome, HomeFilesDamaged, NothingToBackUp
from app.backup.gathering import Gathered, gather
from app.backup.reading import Without
from configs.disk import sync
from configs.home import Home
from memory.artifacts import undisturbed
from memory.clock import iso
from memory.copies import NO_ROOM
from memory.errors import DiskFull, FileNotWritten


@dataclass(frozen=True)
class Made:
    """A finished backup: its ``file`` and that one's ``size``; ``files`` of the home; how many bytes are models.

    ``unanswering``: what the snapshot that answers is made of and is not in it.
    """

    file: Path
    size: int
    files: int
    models_bytes: int
    snapshot: str | None
    without: tuple[Without, ...]
    unanswering: tuple[str, ...]


def create(
    home: Home,
    to: Path,
    *,
    models: bool,
    skip_damaged: bool,
    busy_seconds: float,
    tries: int,
    now: float,
    version: str,
    readme: str,
    tell: Tell,
) -> Made:
    """Write a backup of ``home`` to the new file ``to``; it appears there when it is whole.

    ``models``: whether they are part of it; ``skip_damaged``: leave out what is damaged instead of making none;
    ``tries``: how often a file is begun that becomes shorter while it is copied; ``now``: seconds since 1970;
    ``version``: of Enlace; ``readme``: what it tells whoever opens it. Raises NothingToBackUp, BackupInsideHome,
    BackupExists, BackupNoRoom, HomeFilesDamaged, HomeUnreadable, DatabaseDamaged, DatabaseBusy, DiskFull,
    FileNotWritten.
    """
    if not home.family_db.is_file():
        raise NothingToBackUp(path=str(home.root))
    if within(home, to):
        raise BackupInsideHome(path=str(to), home=str(home.root))
    with _written(to), undisturbed(home), aside(to.parent, to.name) as work:
        _refuse_to_replace(to)
        gathered = gather(home, work, models=models, busy_seconds=busy_seconds, tries=tries)
        check_room(to.parent, gathered.bytes)
        part = work / "backup"
        with os.fdopen(os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "w+b") as file:
            made = _write(
                file, to, gathered, skip_damaged=skip_damaged, now=now, version=version, readme=readme, tell=tell
            )
            file.flush()
            os.fsync(file.fileno())
        _appear(part, to)
        sync(to.parent)
    return made


def _write(
    file: BinaryIO,
    to: Path,
    gathered: Gathered,
    *,
    skip_damaged: bool,
    now: float,
    version: str,
    readme: str,
    tell: Tell,
) -> Made:
    done = 0

    def moved(count: int) -> None:
        nonlocal done
        done += count
        tell(min(done, gathered.bytes), gathered.bytes)

    writer = BagWriter(file, top_of(to), now, moved)
    without = gathered.put_into(writer)
    damaged = [each.path for each in without if each.why == "damaged"]
    if damaged and not skip_damaged:
        raise HomeFilesDamaged(damaged, count=len(damaged), path=damaged[0])
    about = {
        "format": FORMAT,
        "made_at": iso(now),
        "version": version,
        "migrations": sorted(gathered.migrations),
        "snapshot": gathered.snapshot,
        "models_bytes": gathered.models_bytes,
        "without": [asdict(each) for each in without],
    }
    writer.finish(about, readme)
    lost = gathered.unanswering(writer)
    return Made(to, file.tell(), writer.files, gathered.models_bytes, gathered.snapshot, tuple(without), lost)


def _refuse_to_replace(path: Path) -> None:
    if path.exists():
        raise BackupExists(path=str(path))


def _appear(part: Path, to: Path) -> None:
    """Give ``part`` its name, unless something has it by now. Raises BackupExists, OSError."""
    try:
        try:
            os.link(part, to)
        except FileExistsError:
            raise
        except OSError:
            # Disks that are carried about often have no second names: the name is taken first.
            os.close(os.open(to, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            try:
                part.replace(to)
            except BaseException:
                to.unlink()
                raise
    except FileExistsError as error:
        raise BackupExists(path=str(to)) from error


@contextmanager
def _written(to: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in NO_ROOM:
            raise DiskFull(path=str(to.parent)) from error
        raise FileNotWritten(path=str(to), reason=error.strerror or str(error)) from error
