"""What goes into a backup, gathered from a home at one moment, and held to its hashes as it is copied."""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from app.backup.bag import IMMUTABLE, PRIVATE, BagWriter
from app.backup.checking import reached, unanswering
from app.backup.contents import Entry, all_merged_weights, contents
from app.backup.errors import HomeUnreadable
from app.backup.reading import Without
from configs.home import Home
from engine.fingerprint import known_sha256
from engine.forms.records import read_form
from memory.copies import BESIDE, Told, one_moment, told_by
from memory.errors import DatabaseDamaged


@dataclass(frozen=True)
class _Database:
    """A copy of a database: the entries that it becomes, one but for an encrypted one, and what it says."""

    entries: tuple[Entry, ...]
    told: Told


def gather(home: Home, work: Path, *, models: bool, busy_seconds: float, tries: int) -> Gathered:
    """All that a backup of ``home`` consists of; the databases are copied into the folder ``work``.

    Raises DatabaseDamaged for the family's, DatabaseBusy, DiskFull, HomeUnreadable.
    """
    with _reading(home), one_moment(home, busy_seconds) as moment:
        copies = {path: work / f"{number}.db" for number, path in enumerate(moment.databases)}
        damaged = [*moment.damaged]
        for path, copy in copies.items():
            with _but_the_familys(home, path, damaged):
                moment.copy(path, copy)
    databases: list[_Database] = []
    for path in [each for each in copies if each not in damaged]:
        with _but_the_familys(home, path, damaged):
            # The family's comes first.
            seals = databases[0].told.seals if databases else frozenset[str]()
            databases.append(_checked(home, path, copies[path], seals))
    # Listed after that: whatever a database names was there before it was named.
    with _reading(home):
        entries = [each for each in contents(home) if each.member is None or each.member in moment.members]
        return Gathered(home, databases, damaged, entries, models=models, tries=tries)


@contextmanager
def _but_the_familys(home: Home, path: Path, damaged: list[Path]) -> Iterator[None]:
    """Have a database that turns out damaged noted as such, but for the family's, without which there is no home."""
    try:
        yield
    except DatabaseDamaged:
        if path == home.family_db:
            raise
        damaged.append(path)


def _checked(home: Home, path: Path, copy: Path, seals: Container[str]) -> _Database:
    """The copy of a database as what it becomes in the backup. Raises DatabaseDamaged."""
    told = told_by(copy.read_bytes())
    if told.contradicts(seals):
        raise DatabaseDamaged(path=str(path), reason=told.damage)
    # The time at which the file itself changed: a home that stays as it is gives the same backup again.
    with _reading(home):
        changed = path.stat().st_mtime
    entries = []
    # Of an encrypted one, what has not been put into it yet lies beside it.
    for each in (copy, copy.with_name(copy.name + BESIDE[0])):
        if each.exists():
            os.utime(each, (changed, changed))
            name = path.relative_to(home.root).as_posix() + each.name.removeprefix(copy.name)
            entries.append(Entry(name, each, each.stat().st_size))
    return _Database(tuple(entries), told)


class Gathered:
    """The files of one backup, before they are written."""

    def __init__(
        self,
        home: Home,
        databases: list[_Database],
        damaged: list[Path],
        entries: list[Entry],
        *,
        models: bool,
        tries: int,
    ) -> None:
        """``damaged``: databases that no copy can be made of."""
        merged = all_merged_weights(home)
        self._home = home
        self._tries = tries
        self._databases = databases
        self._damaged = [Without(path.relative_to(home.root).as_posix(), "damaged", None, None) for path in damaged]
        self._left_out = [] if models else [each for each in entries if each.of_models or each.digest in merged]
        self._entries = [each for each in entries if models or each not in self._left_out]
        self._told = {each.entries[0].name: each.told for each in databases}
        self._reached = reached(self._told)

    @property
    def bytes(self) -> int:
        """How much is to be copied."""
        return sum(entry.size for entry in self._all())

    @property
    def models_bytes(self) -> int:
        """How much of that are models."""
        return sum(entry.size for entry in self._entries if entry.of_models)

    @property
    def migrations(self) -> frozenset[str]:
        """The steps that made the tables of its databases."""
        return frozenset().union(*(each.told.migrations for each in self._databases))

    @property
    def snapshot(self) -> str | None:
        """The id of the snapshot that answers."""
        return next((each.told.current for each in self._databases if each.told.current), None)

    def put_into(self, writer: BagWriter) -> list[Without]:
        """Copy everything; what is not in it, and why. Raises OSError where it cannot be written."""
        without = [*self._damaged]
        without += [Without(each.name, "left_out", each.size, self._known(each)) for each in self._left_out]
        without += [
            Without(entry.name, "damaged", entry.size, None)
            for entry in self._all()
            if not _put(entry, self._wanted(entry), writer, self._tries)
        ]
        told = {each.path for each in without}
        for name, digest in sorted(self._reached - writer.payload.items()):
            excused = name in told and all(each.sha256 in (None, digest) for each in without if each.path == name)
            if not excused:
                # A model that was deleted is somebody's choice; an artifact that is named and gone is a loss.
                why = "missing" if PurePosixPath(name).parts[0] == self._home.models.name else "damaged"
                without.append(Without(name, why, None, digest))
        return without

    def unanswering(self, writer: BagWriter) -> tuple[str, ...]:
        """What the snapshot that answers is made of and could not be copied."""
        return unanswering(self._told, writer.payload)

    def _all(self) -> Iterable[Entry]:
        # Databases first: whoever reads a backup from its beginning knows at once whose it is.
        return [*(entry for each in self._databases for entry in each.entries), *self._entries]

    def _wanted(self, entry: Entry) -> frozenset[str] | None:
        """What the SHA-256 of a file must be one of; None where nothing is known of it."""
        if entry.digest is not None:
            return frozenset([entry.digest])
        if entry.model is not None:
            known = self._known(entry)
            named = [known] if known else [digest for name, digest in self._reached if name == entry.name]
            return frozenset(named) or None
        if entry.of_form is not None:
            record = read_form(self._home, entry.of_form)
            if record is not None and record.sha256 and record.file == entry.path.name:
                return frozenset([record.sha256])
        return None

    def _known(self, entry: Entry) -> str | None:
        """The SHA-256 of a model that was computed of this very file earlier."""
        try:
            return entry.digest or known_sha256(self._home, entry.path)
        except OSError:
            return None


def _put(entry: Entry, wanted: frozenset[str] | None, writer: BagWriter, tries: int) -> bool:
    """Copy one file; whether it is what it should be. One that is gone meanwhile was not to be kept."""
    mode = IMMUTABLE if entry.digest else PRIVATE
    for _ in range(tries):
        try:
            source = _Source(entry.path.open("rb"))
        except FileNotFoundError:
            return True
        except OSError:
            return False
        with source.file as file:
            facts = os.fstat(file.fileno())
            digest = writer.add(entry.name, source, facts.st_size, mode=mode, changed_at=facts.st_mtime, wanted=wanted)
        if source.failed:
            return False
        if digest is not None:
            return wanted is None or digest in wanted
        # It became shorter while it was read: a run has begun it anew.
    return False


class _Source:
    """A file that ends where the disk does not give it back, and says so."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.failed = False

    def read(self, size: int) -> bytes:
        """The next bytes, none at the end."""
        try:
            return self.file.read(size)
        except OSError:
            self.failed = True
            return b""


@contextmanager
def _reading(home: Home) -> Iterator[None]:
    """Have what keeps the home from being read raised as that, and not as what keeps the backup from being written."""
    try:
        yield
    except OSError as error:
        raise HomeUnreadable(path=error.filename or str(home.root), reason=error.strerror or str(error)) from error
