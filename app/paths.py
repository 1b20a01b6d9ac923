"""A file or folder as somebody names it on the command line."""

from __future__ import annotations

import os
from pathlib import Path


def whole_path(named: str | Path) -> Path:
    """From the root on, with ``~`` put into words as a shell does; of a home that nobody has it is a name like any."""
    # Path's own raises what no error foresees.
    return Path(os.path.expanduser(named)).absolute()
