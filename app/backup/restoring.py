"""Putting a backup in the place of a home: beside it first, whole and checked, then in one step."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from app.backup.alone import alone_in
from app.backup.aside import aside, check_room
from app.backup.bag import IMMUTABLE, PRIVATE
from app.backup.checking import Take, Tell, Verified, examine
from app.backup.errors import HomeNotEmpty, HomeNotReplaced
from app.backup.reading import open_bag
from configs.disk import sync
from configs.home import Home

_STORED: Final = "store/sha256/"


@dataclass(frozen=True)
class Restored:
    """What was put back, and where the home that was there before is now, if there was one."""

    verified: Verified
    moved_to: Path | None


def restore(home: Home, path: Path, *, replace: bool, now: float, tell: Tell) -> Restored:
    """Make ``home`` what the backup ``path`` holds. Nothing is changed before all of that is there and checked.

    Whatever is in its place is moved aside where ``replace`` says so, and else keeps the backup out of it; ``now``:
    seconds since 1970. Raises HomeNotEmpty, EngineInTheWay, TrainingInTheWay, HomeInUse, HomeNotReplaced, BackupNoRoom,
    and what ``verify`` does.
    """
    # Where the home is a link, what it leads to is exchanged.
    home = Home(home.root.resolve())
    with open_bag(path) as bag:
        if not replace:
            _refuse_to_replace(home)
        with _in_place(home):
            with alone_in(home):
                # Told before anything long is begun, and looked at again when it is done.
                pass
            home.root.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            check_room(home.root.parent, sum(bag.files.values()))
            with aside(home.root.parent, home.root.name) as work:
                made = Home(work / "home")
                made.prepare()
                verified = examine(path, bag, lambda name: _put(made.root, name), tell)
                for folder, _, _ in os.walk(made.root):
                    sync(Path(folder))
                moved_to = _exchange(home, made, now, replace=replace)
                sync(home.root.parent)
    return Restored(verified, moved_to)


def _exchange(home: Home, made: Home, now: float, *, replace: bool) -> Path | None:
    """Move what is at the home's place aside and ``made`` there; where the former is, if there is anything in it."""
    with alone_in(home):
        if not replace:
            _refuse_to_replace(home)
        before = _free_name(home.root, now) if home.root.exists() else None
        try:
            if before is not None:
                home.root.rename(before)
            made.root.rename(home.root)
        except BaseException:
            if before is not None and before.exists() and not home.root.exists():
                before.rename(home.root)
            raise
    return None if before is None or _taken_apart(Home(before)) else before


def _taken_apart(home: Home) -> bool:
    """Remove a home that was only prepared, folder by folder and only while they are empty; whether it is gone."""
    try:
        if _found_in(home):
            return False
        for lock in _locks(home):
            lock.unlink(missing_ok=True)
        for folder in (*home.prepared, home.root):
            if folder.exists():
                folder.rmdir()
    except OSError:
        return False
    return True


def _free_name(root: Path, now: float) -> Path:
    """Where a home is moved to: beside its place, with the time in its name."""
    stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(now))
    names = (f"{root.name}.before-{stamp}{more}" for more in ("", *(f"-{n}" for n in range(2, 1000))))
    return next(path for path in map(root.with_name, names) if not path.exists())


def _refuse_to_replace(home: Home) -> None:
    with _in_place(home):
        found = _found_in(home)
    if found:
        raise HomeNotEmpty(path=str(home.root), count=len(found), first=found[0])


def _found_in(home: Home) -> list[str]:
    """What is in a home beside what ``Home.prepare`` makes, whoever's it is, by its path there. Raises OSError."""
    found: list[str] = []
    for path in sorted(home.root.iterdir()) if home.root.exists() else ():
        if path in home.prepared and path.is_dir() and not path.is_symlink():
            found += [each.relative_to(home.root).as_posix() for each in sorted(path.iterdir())]
        elif path not in _locks(home) or path.lstat().st_size:
            found.append(path.name)
    return found


def _locks(home: Home) -> tuple[Path, ...]:
    """Files without content, which whoever starts an engine makes, and whoever sees to it that nobody does."""
    return home.engine_starting, home.engine_lock


@contextmanager
def _put(root: Path, name: str) -> Iterator[Take]:
    path = root / name
    folder = root
    for part in path.parent.relative_to(root).parts:
        folder /= part
        folder.mkdir(mode=0o700, exist_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE)
    with os.fdopen(handle, "wb") as file:
        yield file.write
        file.flush()
        os.fchmod(file.fileno(), IMMUTABLE if _STORED in name else PRIVATE)
        os.fsync(file.fileno())


@contextmanager
def _in_place(home: Home) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise HomeNotReplaced(path=str(home.root), reason=error.strerror or str(error)) from error
