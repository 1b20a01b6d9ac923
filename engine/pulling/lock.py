"""One process at a time gets a model of one name; another waits for it, and finds the model or goes on."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
from collections.abc import AsyncIterator
from pathlib import Path

from engine.pulling.events import Tell, Waiting

LOCK = ".gguf.lock"


@contextlib.asynccontextmanager
async def locked(folder: Path, name: str, poll_s: float, tell: Tell) -> AsyncIterator[None]:
    """Hold the lock of the model ``name`` in ``folder``. It goes with the process, however that ends."""
    path = folder / f"{name}{LOCK}"
    held = _try(path)
    if held is None:
        tell(Waiting())
    while held is None:
        await asyncio.sleep(poll_s)
        held = _try(path)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(held)


def _try(path: Path) -> int | None:
    """The lock's open file, or None while another holds it."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # The one who held it before may have removed the file in between: then this is the lock of nothing.
        if os.fstat(handle).st_ino == os.stat(path).st_ino:
            return handle
    except (BlockingIOError, FileNotFoundError):
        os.close(handle)
        return None
    os.close(handle)
    return None
