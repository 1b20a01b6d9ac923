"""What native code wrote to standard error: what of it may be kept, and the file it is kept in.

Native code prints there when it aborts, which is wanted, and also, for one, the whole of a grammar that it cannot
read, which may hold what somebody said. So the file is emptied of everything but the lines that are known to be about
the code itself: while the engine lives every time it looks after itself, and after its death by whoever starts next.
"""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path

STDERR_FD = 2
LONGEST_LINE = 300
MOST_LINES = 40
# A path in these lines is that of a source file on the machine where llama.cpp was built.
ABOUT_THE_CODE = (
    re.compile(r"(?:.*/)?(?P<kept>[\w.+-]+:\d+: GGML_ASSERT\(.*\) failed)"),
    re.compile(r"(?:.*/)?(?P<kept>[\w.+-]+:\d+: (?:fatal error|not implemented|unreachable))"),
    re.compile(r"(?P<kept>terminate called (?:without an active exception|after throwing an instance of '[\w:]+'))"),
    re.compile(r"\s*what\(\):\s+(?P<kept>std::\w+)$"),
    re.compile(r"(?P<kept>[\w():+ -]*(?:invalid (?:pointer|size|next size|chunk size)|double free or corruption|"
               r"corrupted [\w. -]+|unaligned tcache chunk detected)[\w ()!.-]*)$"),
    re.compile(r"(?P<kept>\*\*\* [a-z ]+ detected \*\*\*: terminated)$"),
    re.compile(r"(?P<kept>libgomp: [A-Za-z ]+)"),
    re.compile(r"(?P<kept>(?:CUDA|Metal|Vulkan|ROCm) error: [a-z ]+)"),
)  # fmt: skip


def about_the_code(text: str) -> list[str]:
    """The lines of ``text`` that speak of the code and of nothing that anybody said, in order, the last ones."""
    kept = []
    for line in text.splitlines():
        for pattern in ABOUT_THE_CODE:
            if found := pattern.match(line):
                kept.append(found["kept"][:LONGEST_LINE])
                break
    return kept[-MOST_LINES:]


def clean(path: Path, since: int) -> tuple[list[str], int]:
    """Rid ``path`` of what may not be kept after the byte ``since``; the lines that stay, and the file's new size.

    Whoever writes to it must have opened it to append. A file that is gone or shorter than that is left alone.
    """
    try:
        with path.open("rb+") as file:
            file.seek(since)
            found = file.read()
            if not found:
                return [], file.seek(0, os.SEEK_END)
            kept = about_the_code(found.decode(errors="replace"))
            file.truncate(since)
            file.seek(since)
            file.write("".join(f"{line}\n" for line in kept).encode())
            return kept, file.tell()
    except FileNotFoundError:
        return [], 0


def stderr_goes_to(path: Path) -> bool:
    """Whether this process's standard error is that file."""
    with contextlib.suppress(OSError):
        here, there = os.fstat(STDERR_FD), path.stat()
        return (here.st_dev, here.st_ino) == (there.st_dev, there.st_ino)
    return False
