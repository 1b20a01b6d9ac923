"""Quiet hours go by the clock on the wall: over midnight, and where that clock is changed."""

from __future__ import annotations

from datetime import datetime
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from trainer.night.hours import is_quiet

MADRID = ZoneInfo("Europe/Madrid")
MINUTE = 60


def shown(text: str, fold: int = 0) -> float:
    """The moment at which a clock in Madrid shows this; the second time that it does, with ``fold`` 1."""
    return datetime.fromisoformat(text).replace(tzinfo=MADRID, fold=fold).timestamp()


@pytest.mark.parametrize(
    ("moment", "begin", "end", "quiet"),
    [
        ("2026-01-10 22:59", "23:00", "07:00", False),
        ("2026-01-10 23:00", "23:00", "07:00", True),
        ("2026-01-11 00:00", "23:00", "07:00", True),
        ("2026-01-11 06:59", "23:00", "07:00", True),
        ("2026-01-11 07:00", "23:00", "07:00", False),
        ("2026-01-11 03:00", "01:30", "05:00", True),
        ("2026-01-11 01:29", "01:30", "05:00", False),
        ("2026-01-11 05:00", "1:30", "5:00", False),
        ("2026-01-11 12:00", "09:00", "09:00", True),
    ],
)
def test_quiet_hours_begin_and_end_at_their_minutes_also_over_midnight(
    moment: str, begin: str, end: str, quiet: bool
) -> None:
    assert is_quiet(shown(moment), begin, end, MADRID) is quiet


@pytest.mark.parametrize(
    ("evening", "hours"),
    [
        pytest.param("2026-01-10 18:00", 8, id="a night like any other"),
        pytest.param("2026-03-28 18:00", 7, id="the clock goes forward"),
        pytest.param("2026-10-24 18:00", 9, id="the clock goes back"),
    ],
)
def test_a_night_is_one_piece_as_long_as_the_clock_on_the_wall_has_it(evening: str, hours: int) -> None:
    begin = shown(evening)
    quiet = [is_quiet(begin + minute * MINUTE, "23:00", "07:00", MADRID) for minute in range(16 * 60)]
    assert sum(quiet) == hours * 60
    changes = [a for a, b in pairwise(quiet) if a != b]
    assert len(changes) == 2


def test_an_hour_that_the_clock_shows_twice_is_quiet_both_times_and_one_that_it_leaves_out_never() -> None:
    assert all(is_quiet(shown("2026-10-25 02:30", fold), "02:15", "02:45", MADRID) for fold in (0, 1))
    spring = shown("2026-03-29 01:00")
    quiet = [is_quiet(spring + minute * MINUTE, "02:15", "02:45", MADRID) for minute in range(180)]
    assert not any(quiet)
