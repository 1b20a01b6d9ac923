"""Whether a backup is whole: every hash, every database, and all that its snapshots are made of."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from app.backup.errors import BackupDamaged
from app.backup.reading import About, Bag, open_bag
from configs.home import Home
from engine.catalogue import STARTER
from memory.copies import Told, told_by

Take = Callable[[bytes], object]
Put = Callable[[str], AbstractContextManager[Take]]
FAMILY: Final = "family.db"
# What a progress is told: bytes so far, and of how many.
Tell = Callable[[int, int], object]


@dataclass(frozen=True)
class Verified:
    """A backup of whose files each is as it was put in: ``files`` of the home and their ``bytes``.

    ``unanswering``: what the snapshot that answers is made of and the backup was made without, so that a home made of
    it answers nobody before another snapshot does.
    """

    about: About
    files: int
    bytes: int
    unanswering: tuple[str, ...]


def verify(path: Path, tell: Tell) -> Verified:
    """Read all of a backup. Raises BackupDamaged, BackupUnreadable, BackupUnsafe, BackupTooNew."""
    with open_bag(path) as bag:
        return examine(path, bag, lambda _: nullcontext(_forget), tell)


def examine(path: Path, bag: Bag, put: Put, tell: Tell) -> Verified:
    """Read all of an open backup, and give each of its files to what ``put`` opens for its name.

    Raises BackupDamaged with all that is wrong, when everything was read; BackupUnreadable; and what ``put`` does.
    """
    problems, told = list(bag.problems), {}
    done, total = 0, sum(bag.files.values())
    for name, size in bag.files.items():
        blocks: list[bytes] = []
        with put(name) as take:
            problem = bag.read(name, _both(take, blocks.append) if is_database(name) else take)
        if problem is not None:
            problems.append(problem)
        elif is_database(name):
            told[name] = told_by(b"".join(blocks))
        done += size
        tell(done, total)
    problems += bag.missing()
    seals = frozenset().union(*(each.seals for each in told.values()))
    problems += [("contradicts", name) for name, each in told.items() if each.contradicts(seals)]
    problems += [] if FAMILY in bag.files else [("lacking", FAMILY)]
    excused = {(each.path, each.sha256) for each in bag.about.without}
    problems += [
        ("lacking", name)
        for name, digest in sorted(reached(told) - bag.digests.items())
        if not {(name, None), (name, digest)} & excused
    ]
    if problems:
        raise BackupDamaged(problems, file=str(path), count=len(problems), path=problems[0][1])
    return Verified(bag.about, len(bag.files), total, unanswering(told, bag.digests))


def is_database(name: str) -> bool:
    """Whether a file of a home, by its path there, is one of its databases."""
    return name.endswith(".db") and str(PurePosixPath(name).parent) in (".", "members")


def reached(told: Mapping[str, Told]) -> frozenset[tuple[str, str]]:
    """Every file that the databases of a home need, by its path there and its SHA-256; ``told``: by their paths."""
    home = Home(Path("/"))
    found: set[tuple[Path, str]] = set()
    for name, each in told.items():
        of_member = PurePosixPath(name).parts[0] == home.members.name
        place = home.of_member(PurePosixPath(name).stem) if of_member else home
        found |= {(place.artifact(digest), digest) for digest in each.artifacts}
        # The starter comes with Enlace itself.
        found |= {(home.models / f"{base}.gguf", digest) for base, digest in each.bases if base != STARTER}
    return frozenset((path.relative_to(home.root).as_posix(), digest) for path, digest in found)


def unanswering(told: Mapping[str, Told], there: Container[str]) -> tuple[str, ...]:
    """What the snapshot that answers is made of and is not ``there``, by its path in the home; ``told``: by theirs."""
    home = Home(Path("/"))
    paths = {home.artifact(digest) for each in told.values() for digest in each.answering}
    return tuple(name for path in sorted(paths) if (name := path.relative_to(home.root).as_posix()) not in there)


def _both(*takers: Take) -> Take:
    def take(block: bytes) -> None:
        for each in takers:
            each(block)

    return take


def _forget(_: bytes) -> None:
    """It was looked at."""
