"""Processes that outlive whoever starts them, and leave nothing behind where they do not."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO


def start_detached(
    command: Sequence[str], *, folder: Path, environ: Mapping[str, str], output: IO[bytes], handles: Sequence[int] = ()
) -> subprocess.Popen[bytes]:
    """Start ``command`` in a session of its own, so that no closed terminal and no Ctrl-C of its starter's ends it.

    What it prints goes to ``output``; ``handles``: file descriptors that it gets. Whoever calls this waits for it, or
    calls ``leave_running``. Raises OSError.
    """
    return subprocess.Popen(
        command,
        cwd=folder,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        pass_fds=handles,
        start_new_session=True,
    )


def leave_running(process: subprocess.Popen[bytes]) -> None:
    """Let it go on by itself. Where it ends first it is waited for, or the system would keep its entry until we end."""
    threading.Thread(target=process.wait, name=f"waiting for {process.pid}", daemon=True).start()
