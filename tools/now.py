"""The date and the time where the household is."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from tools.errors import ToolArgumentWrong
from tools.registry import ToolContext, ToolResult

ASPECTS: Final = ("all", "time", "date", "weekday")
FURTHEST_DAYS: Final = 366
_NAMED_DAYS: Final = (-2, -1, 1, 2)


def now(what: str = "all", days: str = "0", *, context: ToolContext) -> ToolResult:
    """Tell the date, the time or the day of the week.

    ``what`` is all, time, date or weekday; ``days`` is how many days from today (1 is tomorrow, -1 yesterday).
    """
    if what not in ASPECTS:
        raise ToolArgumentWrong(name="now", argument="what", expected=", ".join(ASPECTS))
    try:
        offset = int(days)
    except ValueError:
        offset = FURTHEST_DAYS + 1
    if abs(offset) > FURTHEST_DAYS:
        raise ToolArgumentWrong(name="now", argument="days", expected=f"-{FURTHEST_DAYS}…{FURTHEST_DAYS}")
    moment = datetime.fromtimestamp(context.clock(), tz=UTC).astimezone(_zone(context.time_zone))
    moment += timedelta(days=offset)
    words = context.phrases.text
    facts = {
        "weekday": words(f"tools.now.weekdays.{moment.weekday()}"),
        "day": str(moment.day),
        "month": words(f"tools.now.months.{moment.month}"),
        "year": str(moment.year),
        "time": f"{moment:%H:%M}",
        "relative": words(f"tools.now.relative.{offset}") if offset in _NAMED_DAYS else f"{offset:+d}",
    }
    must_say = {
        "all": ("day", "month", "time"),
        "time": ("time",),
        "date": ("day", "month", "year"),
        "weekday": ("weekday",),
    }
    shape = what if offset == 0 else f"{'date' if what in ('all', 'time') else what}_other"
    needed = must_say["date" if shape == "date_other" else what]
    return ToolResult(words(f"tools.now.{shape}", **facts), must_say=tuple(facts[name] for name in needed))


def _zone(name: str) -> tzinfo | None:
    """The zone called ``name``; None, which is the machine's own, where it is empty. Raises ToolArgumentWrong."""
    if not name:
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise ToolArgumentWrong(name="now", argument="assistant.time_zone", expected="Europe/Madrid, …") from error
