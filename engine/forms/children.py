"""Running one task of ``engine.forms.tasks`` in a process of its own, so that whatever it dies of stays there."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
LONGEST_REASON = 200


class TaskFailed(Exception):
    """A task ended without a result: its own words, those of native code, or how the process ended."""


def run_task(task: dict[str, Any], timeout_s: float) -> dict[str, Any]:
    """The result of ``task``. Raises TaskFailed. The process is gone when this returns or raises, Ctrl-C included."""
    ours, theirs = os.pipe()
    with tempfile.TemporaryFile() as said, os.fdopen(ours, "rb") as pipe:
        try:
            process = subprocess.Popen(
                [sys.executable, "-m", "engine.forms.tasks", str(theirs)],
                cwd=ROOT,
                # An abort in native code must end the process at once, not call a debugger.
                env={**os.environ, "GGML_NO_BACKTRACE": "1"},
                stdin=subprocess.PIPE,
                stdout=said,
                stderr=said,
                pass_fds=[theirs],
                # Ctrl-C is for the process that shows the table; it ends this one.
                start_new_session=True,
            )
        except OSError as error:
            raise TaskFailed(error.strerror or str(error)) from error
        finally:
            os.close(theirs)
        with process:
            try:
                line = _answer(process, pipe.fileno(), task, timeout_s)
            finally:
                process.kill()
            process.wait()
            if not line:
                said.seek(0)
                raise TaskFailed(_last_words(said.read(), process.returncode))
    answer = json.loads(line)
    if "result" not in answer:
        raise TaskFailed(answer["reason"])
    result: dict[str, Any] = answer["result"]
    return result


def _answer(process: subprocess.Popen[bytes], pipe: int, task: dict[str, Any], timeout_s: float) -> bytes:
    """The line that the process tells; empty where it ends without one. Raises TaskFailed when it takes too long."""
    assert process.stdin is not None  # noqa: S101 - it was opened as a pipe
    try:
        process.stdin.write(json.dumps(task).encode() + b"\n")
        process.stdin.flush()
    except BrokenPipeError:
        # It ended at once; what it said is read below.
        return b""
    line = b""
    while not line.endswith(b"\n"):
        if not select.select([pipe], [], [], timeout_s)[0]:
            raise TaskFailed(f"no result within {timeout_s:.0f} s")
        piece = os.read(pipe, 1 << 16)
        if not piece:
            process.wait()
            return b""
        line += piece
    return line


def _last_words(said: bytes, code: int) -> str:
    lines = said.decode(errors="replace").strip().splitlines()
    ended = f"ended by signal {-code}" if code < 0 else f"ended with code {code}"
    return f"{ended}: {lines[-1][:LONGEST_REASON]}" if lines else ended
