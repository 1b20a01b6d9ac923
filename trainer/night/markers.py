"""Markers: that a training is due, who carries it, and that it was carried out. A marker is a file, its name its state.

    night/0007.pending                     the training is due
    night/0007.claimed.HOST.PROCESS        this process of this machine carries it
    night/0007.completed                   every step succeeded

Each change is one rename of a name that nobody else makes, so of several who try the same one succeeds, and a kill at
any instant leaves the state before or after. The claim's holder is part of its name: who takes over from a holder that
is gone renames that holder's claim and no other, so a claim that somebody else took meanwhile is never taken from them.
"""

from __future__ import annotations

import fcntl
import json
import os
import platform
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

from configs.disk import sync
from memory.errors import FileNotWritten
from memory.processes import lives, own_identity
from memory.whole_files import write_whole
from trainer.errors import ClaimLost, NoRoom

State = Literal["pending", "claimed", "completed"]
_NAME = re.compile(r"(\d{4,})\.(pending|completed|claimed)(?:\.([^.]+)\.(.+))?")
_LOCK = "markers.lock"
_RENEWALS = 4  # in the time of a lease: three may fail


@dataclass(frozen=True)
class Marker:
    """``written_at``: seconds since 1970; ``pairs``: those that made it due; ``judged``: the last judged run then.

    ``host`` and ``process`` (as in ``memory.processes``): who holds it, where it is claimed.
    """

    path: Path
    number: int
    state: State
    written_at: float
    pairs: int
    judged: str
    host: str = ""
    process: str = ""


class Markers:
    """The markers in ``folder``, as this process sees and changes them.

    ``lease_s``: how long a holder on another machine may give no sign. What counts is how long this process has seen
    none, by ``monotonic`` (seconds): no clock of the two machines has to agree with the other's, or to go forward.
    """

    def __init__(self, folder: Path, lease_s: float, monotonic: Callable[[], float]) -> None:
        self._folder = folder
        self._lease_s = lease_s
        self._monotonic = monotonic
        self._host = re.sub(r"[^A-Za-z0-9-]", "-", platform.node())[:60] or "-"
        self._seen: dict[str, tuple[int, float]] = {}

    def list(self) -> list[Marker]:
        """All of them, the oldest first."""
        named = ((path, _NAME.fullmatch(path.name)) for path in self._folder.glob("*.*"))
        found = (_read(path, name) for path, name in named if name)
        return sorted((marker for marker in found if marker), key=lambda marker: marker.number)

    def open(self) -> Marker | None:
        """The one that is not completed, or None."""
        return next((marker for marker in self.list() if marker.state != "completed"), None)

    def write(self, written_at: float, pairs: int, judged: str) -> Marker:
        """Say that a training is due; where one is due already, that one. Raises NoRoom."""
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise NoRoom(path=str(self._folder), reason=error.strerror or str(error)) from error
        with _alone(self._folder):
            listed = self.list()
            for marker in listed:
                if marker.state != "completed":
                    return marker
            number = listed[-1].number + 1 if listed else 1
            path = self._folder / f"{number:04d}.pending"
            try:
                write_whole(path, json.dumps({"written_at": written_at, "pairs": pairs, "judged": judged}))
            except FileNotWritten as error:
                raise NoRoom(**error.facts) from error
        return Marker(path, number, "pending", written_at, pairs, judged)

    def claim(self, marker: Marker) -> Claim | None:
        """Take a marker that is pending, or whose holder is gone; None where it cannot be had. Raises NoRoom."""
        if marker.state == "completed" or (marker.state == "claimed" and not self.abandoned(marker)):
            return None
        process = own_identity().replace(":", "_")
        claimed = self._folder / f"{marker.number:04d}.claimed.{self._host}.{process}"
        return Claim(claimed, self._lease_s / _RENEWALS) if _moved(marker.path, claimed) else None

    def abandoned(self, claim: Marker) -> bool:
        """Whether a claim's holder is gone: its process where that is of this machine, else its lease."""
        if self.is_of_this_machine(claim):
            return not lives(claim.process)
        try:
            renewed = claim.path.stat().st_mtime_ns
        except OSError:
            return False
        now = self._monotonic()
        known, since = self._seen.setdefault(claim.path.name, (renewed, now))
        if known != renewed:
            self._seen[claim.path.name] = (renewed, now)
            return False
        return now - since > self._lease_s

    def is_of_this_machine(self, claim: Marker) -> bool:
        """Whether the holder is a process of this machine, since its last start."""
        return claim.host == self._host and claim.process.split(":")[0] == own_identity().split(":")[0]


class Claim:
    """A marker that this process holds; ``renew`` is to be called every ``renew_s`` seconds."""

    def __init__(self, path: Path, renew_s: float) -> None:
        self._path = path
        self.renew_s = renew_s

    def renew(self) -> None:
        """Give a sign. Raises ClaimLost where somebody saw none for so long that they took over, NoRoom."""
        try:
            os.utime(self._path)
        except FileNotFoundError as error:
            raise ClaimLost from error
        except OSError as error:
            raise NoRoom(path=str(self._path), reason=error.strerror or str(error)) from error

    def release(self) -> None:
        """Let it be claimed again. Raises ClaimLost, NoRoom."""
        self._leave_as("pending")

    def complete(self) -> None:
        """Every step succeeded; of those completed before, none is kept. Raises ClaimLost, NoRoom."""
        done = self._leave_as("completed")
        for path in self._path.parent.glob("*.completed"):
            if path.name < done.name:
                path.unlink(missing_ok=True)

    def _leave_as(self, state: State) -> Path:
        left = self._path.with_name(f"{self._path.name.partition('.')[0]}.{state}")
        if not _moved(self._path, left):
            raise ClaimLost
        return left


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """No other process of this machine changes a marker meanwhile, so a list has them all. Raises NoRoom."""
    try:
        lock = (folder / _LOCK).open("ab")
    except OSError as error:
        raise NoRoom(path=str(folder), reason=error.strerror or str(error)) from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _moved(path: Path, to: Path) -> bool:
    """Whether this process was the one to rename ``path``. Raises NoRoom."""
    with _alone(path.parent):
        try:
            path.rename(to)
            sync(to.parent)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise NoRoom(path=str(path), reason=error.strerror or str(error)) from error
    return True


def _read(path: Path, named: re.Match[str]) -> Marker | None:
    """The marker of a name; None where it has another name by now. One that cannot be read is due for no known run."""
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        written_at, pairs, judged = float(told["written_at"]), int(told["pairs"]), str(told["judged"])
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError):
        written_at, pairs, judged = 0.0, 0, "?"
    number, state, host, process = named.groups("")
    owner = (host, process.replace("_", ":"))
    return Marker(path, int(number), cast(State, state), written_at, pairs, judged, *owner)
