"""The engine's log: one JSON object a line, made of numbers and names of ours, never of anybody's words.

What may go into a line is decided here and nowhere else. A text that could hold what somebody said (an exception's
message, the argument of a callback in the event loop's complaint, a line of native code) is left out whatever the
caller passes: of an exception the log has its kind and where it was raised, of a foreign library's line which
library spoke and from where.
"""

from __future__ import annotations

import json
import logging
import logging.handlers
import re
import sys
import sysconfig
import threading
import time
import traceback
from pathlib import Path
from types import TracebackType
from typing import Any

from configs.errors import EnlaceError

OURS = "enlace."
NATIVE = "enlace.native"
# Names that we give to things: events, codes, snapshots, modules. No blank, nothing that could be a sentence.
NAME = re.compile(r"[A-Za-z0-9_.:+-]{1,64}")
# What llama.cpp puts before its messages: the name of the function that speaks.
NATIVE_SOURCE = re.compile(r"([a-z][a-z0-9]*_[a-z0-9_]+): ")
PLACEHOLDER = re.compile(r"%[-+# 0-9.]*[a-z]")
LIBRARIES = ("uvicorn", "asyncio")
MOST_FRAMES = 30
ROOT = Path(__file__).resolve().parent.parent


class JsonLines(logging.Formatter):
    """Formats a record as one line of JSON: time (UTC), level, event, pid, and the numbers that belong to it."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": timestamp(record.created),
            "level": record.levelname.lower(),
            "event": "",
            "pid": record.process,
        }
        if record.name == NATIVE:
            spoken = NATIVE_SOURCE.match(record.getMessage())
            line |= {"event": "native", "source": spoken[1] if spoken else None}
        elif record.name.startswith(OURS):
            line |= {"event": _event(str(record.msg)), **_fields(record)}
        else:
            line |= {"event": "library", "library": record.name, "at": f"{record.module}:{record.lineno}"}
        if record.exc_info and record.exc_info[1] is not None:
            line |= raised(record.exc_info[1])
        return json.dumps(line)


def note(log: logging.Logger, event: str, level: int = logging.INFO, **fields: Any) -> None:
    """Log ``event`` with its fields. Numbers and single names are kept, any other text is left out."""
    log.log(level, event, extra={"fields": fields})


def log_to(path: Path, longest: int, kept: int) -> None:
    """Send every log line of this process to ``path``; at ``longest`` bytes a new file begins, ``kept`` old ones stay.

    Errors that end a thread, and those that Python cannot raise, go there too instead of to standard error: their
    messages may hold what somebody said.
    """
    handler = logging.handlers.RotatingFileHandler(path, maxBytes=longest, backupCount=kept, encoding="utf-8")
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    # A line that cannot be written is lost; it must not go to standard error with everything that was left out of it.
    logging.raiseExceptions = False
    # What a library tells of its ordinary doings is about nothing that is ours.
    for library in LIBRARIES:
        logging.getLogger(library).setLevel(logging.WARNING)
    log = logging.getLogger("enlace.engine")

    def ended(what: threading.ExceptHookArgs) -> None:
        if what.exc_value is not None:
            note(
                log,
                "thread_died",
                logging.ERROR,
                thread=what.thread.name if what.thread else None,
                **raised(what.exc_value),
            )

    def unraisable(what: sys.UnraisableHookArgs) -> None:
        if what.exc_value is not None:
            note(log, "unraisable", logging.ERROR, **raised(what.exc_value))

    def uncaught(_kind: type[BaseException], error: BaseException, _trace: TracebackType | None) -> None:
        fields = raised(error)
        note(log, "uncaught", logging.CRITICAL, **fields)
        # For whoever started it, and waits to hear why it does not answer.
        print(" at ".join([fields["error"], *fields["frames"][-1:]]), file=sys.stderr)  # noqa: T201

    threading.excepthook, sys.unraisablehook, sys.excepthook = ended, unraisable, uncaught


def timestamp(seconds: float) -> str:
    """A moment in UTC with milliseconds, as logs and reports write it."""
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{int(seconds % 1 * 1000):03d}Z"


def frames(trace: TracebackType | None) -> list[str]:
    """Where an error came from, outermost first: ``file:line function``, without folders that name a person."""
    found = traceback.extract_tb(trace)[-MOST_FRAMES:]
    return [f"{short_path(frame.filename)}:{frame.lineno} {frame.name}" for frame in found]


def short_path(path: str) -> str:
    """A source file's path from its package on; the folders before that may say whose home it is."""
    for root in (str(ROOT), sysconfig.get_path("purelib"), sysconfig.get_path("stdlib")):
        if path.startswith(f"{root}/"):
            return path[len(root) + 1 :]
    return Path(path).name


def _event(message: str) -> str:
    """A name for a line from its constant text: ``a step failed: %s`` is ``a_step_failed``."""
    return "_".join(re.findall(r"[a-z0-9]+", PLACEHOLDER.sub("", message).lower()))


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    given: dict[str, Any] = dict(getattr(record, "fields", None) or {})
    values = record.args if isinstance(record.args, tuple) else ()
    # Texts are kept from callers alone that name what they are.
    given |= {f"value_{place}": value for place, value in enumerate(values) if not isinstance(value, str)}
    return {name: kept for name, value in given.items() if (kept := _kept(value)) is not None}


def _kept(value: Any) -> Any:
    """What of a value may be written down."""
    if isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return round(value, 3)
    if isinstance(value, EnlaceError):
        return value.code
    if isinstance(value, BaseException):
        return type(value).__name__
    if isinstance(value, Frames):
        return list(value)
    return value if isinstance(value, str) and NAME.fullmatch(value) else None


class Frames(tuple[str, ...]):
    """Lines that ``frames`` wrote: places in code, which are nobody's words."""


def raised(error: BaseException) -> dict[str, Any]:
    """The fields of a line about ``error``: its kind and where it came from, never its message."""
    kind = error.code if isinstance(error, EnlaceError) else type(error).__name__
    return {"error": kind, "frames": Frames(frames(error.__traceback__))}
