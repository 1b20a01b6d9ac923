"""The processes of one stage, begun, watched and ended together: one, or as many as train together on this machine."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from trainer.place import environments
from trainer.run_files import RunFiles


class Workers:
    """``count`` processes of ``stage``, begun; what they say goes to ``log``, and they end with this process.

    ``environment``: what they find beside this process's own.
    """

    def __init__(self, stage: str, files: RunFiles, count: int, log: BinaryIO, environment: Mapping[str, str]) -> None:
        files.meeting.unlink(missing_ok=True)
        self._processes = [
            subprocess.Popen(
                [sys.executable, "-m", "trainer.worker", stage, str(files.folder), str(os.getpid())],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**each, **environment},
                cwd=Path(__file__).parents[1],
            )
            for each in environments(count, os.environ)
        ]

    def status(self) -> int | None:
        """0 when all have ended well, the exit status of one that has not as soon as there is one; else None."""
        found = [process.poll() for process in self._processes]
        failed = [status for status in found if status]
        # One that was killed tells more than those that lost it.
        return min(failed) if failed else (None if None in found else 0)

    def hold(self) -> None:
        """Have them use no processor until ``go_on``; what they hold in memory stays."""
        self._signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """Have them work again where they were held."""
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        for process in self._processes:
            if process.poll() is None:
                process.send_signal(number)

    def end(self, grace_s: float) -> None:
        """End those that still run, in order within ``grace_s`` seconds, else at once."""
        self._signal(signal.SIGTERM)
        # What is held hears nothing else.
        self.go_on()
        end_within(self._processes, grace_s)


def end_within(processes: Sequence[subprocess.Popen[bytes]], seconds: float) -> set[int]:
    """Wait for all to end, and end at once those that have not after ``seconds``; these, by their place."""
    deadline, ended = time.monotonic() + seconds, set()
    for place, process in enumerate(processes):
        try:
            process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            ended.add(place)
    return ended
