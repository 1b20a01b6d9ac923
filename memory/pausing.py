"""Whether somebody has paused the trainings of a home: a file says so, to the trainer and to whoever asks."""

from __future__ import annotations

import json
from dataclasses import dataclass

from configs.home import Home
from memory.clock import Clock
from memory.errors import FileNotWritten
from memory.text import storable
from memory.whole_files import write_whole


@dataclass(frozen=True)
class Pause:
    """``who``: a member's name; ``since``: seconds since 1970, 0 where the file does not tell."""

    who: str
    since: float


def paused(home: Home) -> Pause | None:
    """The pause that lasts, if there is one. A damaged file is a pause as well: nobody said that it ended."""
    try:
        content = home.training_paused.read_bytes()
    except FileNotFoundError:
        return None
    except OSError:
        return Pause("", 0.0)
    try:
        told = json.loads(content)
        return Pause(str(told["who"]), float(told["since"]))
    except (ValueError, KeyError, TypeError):
        return Pause("", 0.0)


def pause(home: Home, who: str, clock: Clock) -> Pause:
    """Hold the training that runs, and have none begin, until ``resume``; one that lasts already stays as it is.

    Raises FileNotWritten.
    """
    found = paused(home)
    if found is None:
        found = Pause(storable(who), clock())
        write_whole(home.training_paused, json.dumps({"who": found.who, "since": found.since}))
    return found


def resume(home: Home) -> bool:
    """Let trainings go on; whether they were paused. Raises FileNotWritten."""
    try:
        home.training_paused.unlink()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise FileNotWritten(path=str(home.training_paused), reason=error.strerror or str(error)) from error
    return True
