"""Errors that nobody foresaw: all of it to the log, one sentence to the person."""

from __future__ import annotations

import os
import tempfile
import time
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from configs.errors import EnlaceError
from configs.home import Home

_LOG: Final = "command.log"
_LARGEST_LOG: Final = 1_048_576


class Unexpected(EnlaceError):
    """facts: log (path)."""

    code = "unexpected"


def note_unexpected(error: BaseException, environ: Mapping[str, str]) -> Unexpected:
    """Write ``error`` with its traceback to the household's log, else to one in the temporary folder."""
    lines = traceback.format_exception(error)
    entry = f"{time.strftime('%Y-%m-%dT%H:%M:%S%z')}\n{''.join(lines)}\n"
    for folder in (Home.find(environ).logs, Path(tempfile.gettempdir())):
        log = folder / _LOG
        try:
            if log.exists() and log.stat().st_size > _LARGEST_LOG:
                log.replace(log.with_suffix(".log.1"))
            # A traceback may hold what somebody said, and the temporary folder is everybody's: for the owner's eyes
            # alone, and through no link that another may have put there.
            handle = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o600)
            with open(handle, "w", encoding="utf-8", errors="replace") as file:
                file.write(entry)
        except OSError:
            # The home may be what is broken; the temporary folder is tried next.
            continue
        return Unexpected(log=str(log))
    return Unexpected(log="-")
