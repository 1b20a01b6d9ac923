"""Errors that nobody foresaw: all of it to the log, one sentence to the person."""

from __future__ import annotations

import os
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from configs.errors import EnlaceError
from configs.home import Home

_LOG: Final = "command.log"
_LARGEST_LOG: Final = 1_048_576


class Unexpected(EnlaceError):
    """facts: log (path)."""

    code = "unexpected"


class UnexpectedUnkept(EnlaceError):
    """The same where no log could be written. facts: error (the name of its class)."""

    code = "unexpected_unkept"


def note_unexpected(error: BaseException, environ: Mapping[str, str]) -> Unexpected | UnexpectedUnkept:
    """Write ``error`` with its traceback to the household's log, else to a new file in the temporary folder."""
    lines = traceback.format_exception(error)
    entry = f"{time.strftime('%Y-%m-%dT%H:%M:%S%z')}\n{''.join(lines)}\n"
    # The home may be what is broken.
    places: tuple[Callable[[], tuple[int, str]], ...] = (
        lambda: _household_log(Home.find(environ).logs),
        _log_of_its_own,
    )
    for begin in places:
        try:
            handle, log = begin()
            with open(handle, "w", encoding="utf-8", errors="replace") as file:
                file.write(entry)
        except OSError:
            continue
        return Unexpected(log=log)
    return UnexpectedUnkept(error=type(error).__name__)


# A traceback may hold what somebody said: both logs are for the owner's eyes alone.


def _household_log(folder: Path) -> tuple[int, str]:
    log = folder / _LOG
    if log.exists() and log.stat().st_size > _LARGEST_LOG:
        log.replace(log.with_suffix(".log.1"))
    return os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o600), str(log)


def _log_of_its_own() -> tuple[int, str]:
    # The temporary folder is everybody's: under a name that could be foreseen another may have put something.
    return tempfile.mkstemp(prefix="enlace-", suffix=".log")
