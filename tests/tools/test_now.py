"""The clock, in the member's language and the household's zone."""

from __future__ import annotations

import dataclasses

import pytest

from tests.tools.conftest import MakeContext
from tools.errors import ToolArgumentWrong
from tools.now import now


def test_the_time_is_that_of_the_households_zone(context: MakeContext) -> None:
    assert now("time", context=context("en")).text == "It is 18:46."
    elsewhere = dataclasses.replace(context("en"), time_zone="America/New_York")
    assert now("time", context=elsewhere).text == "It is 12:46."


def test_the_date_is_said_in_the_members_language(context: MakeContext) -> None:
    assert now("date", context=context("es")).text == "Hoy es domingo 29 de noviembre de 2026."
    assert now("date", context=context("en")).text == "Today is Sunday 29 November 2026."


def test_tomorrow_and_yesterday_are_other_days(context: MakeContext) -> None:
    assert now("weekday", "1", context=context("es")).must_say == ("lunes",)
    assert now("date", "-1", context=context("en")).must_say == ("28", "November", "2026")


@pytest.mark.parametrize(("what", "days"), [("year", "0"), ("date", "1.5"), ("date", "99999")])
def test_an_argument_that_makes_no_sense_is_refused(context: MakeContext, what: str, days: str) -> None:
    with pytest.raises(ToolArgumentWrong):
        now(what, days, context=context("en"))


def test_an_unknown_zone_is_told_by_its_setting(context: MakeContext) -> None:
    with pytest.raises(ToolArgumentWrong) as raised:
        now("time", context=dataclasses.replace(context("en"), time_zone="Mars/Olympus"))
    assert raised.value.facts["argument"] == "assistant.time_zone"
