"""Times as the screen shows them, on this machine's clock."""

from __future__ import annotations

import datetime


def clock_time(at: float) -> str:
    """Hours and minutes; ``at``: seconds since 1970."""
    return datetime.datetime.fromtimestamp(at).strftime("%H:%M")


def day(at: float) -> str:
    """The day; ``at``: seconds since 1970."""
    return datetime.datetime.fromtimestamp(at).strftime("%d/%m/%Y")


def day_and_time(at: float) -> str:
    """The day, then hours and minutes; ``at``: seconds since 1970."""
    return datetime.datetime.fromtimestamp(at).strftime("%d/%m/%Y %H:%M")
