"""The processes of a run that are several, begun on this machine, stopped and ended together."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import IO, Final

from configs.pretraining.places import Places
from trainer.asked_run import INTERRUPTED
from trainer.errors import ProcessLost
from trainer.place import environments
from trainer.pretraining.files import PretrainingFiles
from trainer.workers import end_within

_POLL_SECONDS: Final = 0.05


def carry_together(command: Sequence[str], places: Places, grace_seconds: float, stopping: Callable[[], bool]) -> int:
    """Run ``command`` once for each process of the run; the exit code: 0, 130 where they were stopped, else another.

    Once ``stopping`` says so they are asked to end. When one fails the others are ended within ``grace_seconds``: they
    would wait for it. What the one that failed says on stderr is said here; the first process has this one's stdout.
    """
    count = places.run.hardware.processes
    # Of a run before this one; whoever comes first would meet nobody there.
    PretrainingFiles(places.folder).meeting.unlink(missing_ok=True)
    with ExitStack() as opened:
        said = [opened.enter_context(tempfile.TemporaryFile("w+")) for _ in range(count)]
        processes = [
            subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stderr=stderr,
                env=environment,
            )
            for environment, stderr in zip(environments(count, os.environ), said, strict=True)
        ]
        asked, left = False, set[int]()
        while None in (codes := [each.poll() for each in processes]):
            if any(code not in (None, 0, INTERRUPTED) for code in codes):
                left |= end_within(processes, grace_seconds)
            elif not asked and stopping():
                asked = True
                for each in processes:
                    each.terminate()
            time.sleep(_POLL_SECONDS)
        texts = [_read(each) for each in said]
    failed = [rank for rank, each in enumerate(processes) if each.returncode]
    if not failed:
        return 0
    # Not one that was ended here; and those that lost another one say so, and not why.
    why = min(failed, key=lambda rank: (processes[rank].returncode == INTERRUPTED, rank in left, _lost(texts[rank])))
    code = processes[why].returncode
    sys.stderr.write(texts[why] or f"signal {-code}\n")
    return code if code > 0 else 1


def _read(file: IO[str]) -> str:
    file.seek(0)
    return file.read()


def _lost(text: str) -> bool:
    try:
        return bool(json.loads(text.strip().splitlines()[-1])["code"] == ProcessLost.code)
    except (ValueError, LookupError, TypeError):
        return False


def this_command(arguments: Sequence[str]) -> list[str]:
    """What begins this program once more."""
    return [sys.executable, *(["-P"] if sys.flags.safe_path else []), "-m", "trainer.pretraining", *arguments]
