"""Quiet hours as the clock on the wall shows them: over midnight, and also on the days when that clock is changed."""

from __future__ import annotations

from datetime import datetime, tzinfo


def is_quiet(now: float, begin: str, end: str, zone: tzinfo | None = None) -> bool:
    """Whether ``now`` (seconds since 1970) lies in the hours from ``begin`` to ``end`` ("23:00"), the end not included.

    ``zone``: the household's; this machine's where it is None. What is compared is the time that is shown: a night
    has an hour less in spring and one more in autumn, and nothing is reckoned forward that a clock that is set could
    make wrong. Hours that end where they begin last for ever.
    """
    shown = datetime.fromtimestamp(now, zone)
    minute, first, last = shown.hour * 60 + shown.minute, _minute(begin), _minute(end)
    if first < last:
        return first <= minute < last
    return minute >= first or minute < last


def _minute(time_of_day: str) -> int:
    hours, minutes = time_of_day.split(":")
    return int(hours) * 60 + int(minutes)
