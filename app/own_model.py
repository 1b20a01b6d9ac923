"""The making of a model of one's own, as the trainer tells it: a process that takes as long as it takes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, Final

from app.exit_codes import INTERRUPTED
from app.training import ROOT, last_line, reported

if TYPE_CHECKING:
    from configs.home import Home

# Ctrl-C, a wish to end, and a terminal that was closed.
_TO_STOP: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True)
class Told:
    """What the trainer tells. ``fraction``: how much is done, 0 to 1, if known."""

    kind: str
    fraction: float | None
    facts: Mapping[str, Any]


class Making:
    """``python -m MODULE RUN [key.path=value …]``, begun. Whoever asks this process to stop asks that one.

    The first signal has it end in order, the second one at once.
    """

    def __init__(self, home: Home, module: str, asked: Sequence[str]) -> None:
        home.prepare()
        self._home = home
        self._asked_to_stop = False
        with home.trainer_log.open("ab") as output:
            self._begins_at = output.tell()
            self._process = _begun(home, module, asked, output)

    def events(self) -> Iterator[Told]:
        """What it tells, as it tells it. Raises what it reports of its end, and TrainerNotStarted where nothing."""
        with self._process as process, _signals_to(self._stop):
            for line in process.stdout or ():
                yield _told(line)
            code = process.wait()
        if code not in (0, INTERRUPTED) and not (self._asked_to_stop and code < 0):
            raise reported(last_line(self._home.trainer_log, self._begins_at, code), self._home.trainer_log, code)

    @property
    def exit_code(self) -> int:
        """Once it has ended well: 0, or 130 where somebody stopped it."""
        return INTERRUPTED if self._asked_to_stop or self._process.returncode else 0

    def _stop(self, *_: object) -> None:
        if self._asked_to_stop:
            self._process.kill()
        else:
            self._process.terminate()
        self._asked_to_stop = True


def _begun(home: Home, module: str, asked: Sequence[str], output: IO[bytes]) -> subprocess.Popen[str]:
    # In the folder where somebody typed the paths, but without what may lie there under our modules' names (-P).
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return subprocess.Popen(
        [sys.executable, "-P", "-m", module, *asked],
        env={**home.environment(os.environ), "PYTHONPATH": os.pathsep.join(paths)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=output,
        text=True,
        encoding="utf-8",
        errors="replace",
        # A group of its own: Ctrl-C is told to it here, once.
        process_group=0,
    )


def _told(line: str) -> Told:
    try:
        told = json.loads(line)
        return Told(str(told["kind"]), told.get("fraction"), dict(told.get("facts") or {}))
    except (ValueError, KeyError, TypeError):
        return Told("unreadable", None, {"line": line.rstrip("\n")})


@contextmanager
def _signals_to(stop: Any) -> Iterator[None]:
    before = {number: signal.signal(number, stop) for number in _TO_STOP}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
