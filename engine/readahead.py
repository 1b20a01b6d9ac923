"""Reading a model's file before native code does, so that a slow disk is not taken for an engine that hangs."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

# Small enough that the slowest disk brings one long before anything counts as hung, large enough to cost no time.
PIECE = 1 << 24  # bytes


def read_ahead(path: Path, alive: Callable[[], None]) -> None:
    """Have the file in the system's cache; ``alive()`` is called after each piece of it.

    llama.cpp maps a model and brings all of it in by one call, which gives no sign for as long as the disk takes.
    A file that cannot be read is left to whoever loads it, and says why.
    """
    piece = bytearray(PIECE)
    with contextlib.suppress(OSError), path.open("rb", buffering=0) as file:
        while file.readinto(piece):
            alive()
