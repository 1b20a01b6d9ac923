"""The most memory that an engine may hold, and what it does above that."""

from __future__ import annotations

import contextlib
import ctypes
import resource
from typing import Literal

MB = 1 << 20
# Looks that dropped caches get to show in the resident memory.
LOOKS_TO_SETTLE = 2
# glibc's mallopt(3).
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3

Measure = Literal["none", "drop_caches", "retire"]


class Ceiling:
    """Decides, look by look. ``limit_mb`` 0 is no limit."""

    def __init__(self, limit_mb: int) -> None:
        self.limit = limit_mb * MB
        self._above = 0

    def look(self, resident: int) -> Measure:
        """What is to be done at ``resident`` bytes: first the caches go; if that was not enough, the engine does."""
        if not self.limit or resident <= self.limit:
            self._above = 0
            return "none"
        self._above += 1
        if self._above == 1:
            return "drop_caches"
        return "retire" if self._above > LOOKS_TO_SETTLE + 1 else "none"


def give_back_freed_memory() -> None:
    """Have the C library return what was freed to the system; where it cannot, it keeps it for later."""
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)


def return_freed_blocks(least: int) -> None:
    """Have the C library give blocks of at least ``least`` bytes back to the system as soon as they are freed.

    By itself glibc does so until the first one is freed, and from then on keeps blocks of that size for later, in an
    area for each thread: with what every thread once held, an engine grows for hours. Other C libraries do as they do.
    """
    with contextlib.suppress(AttributeError, OSError):
        c_library = ctypes.CDLL(None)
        c_library.mallopt(M_MMAP_THRESHOLD, least)
        c_library.mallopt(M_TRIM_THRESHOLD, least)


def no_core_dumps() -> None:
    """Have the kernel keep no image of this process when it dies: it would hold what everybody said.

    One byte and not none: with a limit of 0 the kernel still sends the image to a program that collects them.
    """
    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CORE, (1 if hard == resource.RLIM_INFINITY else min(1, hard), hard))
