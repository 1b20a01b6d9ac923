"""How a member proves who they are, and what becomes of somebody who is wrong."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest

from configs.home import Home
from configs.settings import Settings, load_settings
from memory.entrance import Pins
from memory.entrance_errors import PinFormWrong, PinWrong, SecretNeeded, TooManyTries, WayBackWrong
from memory.errors import DatabaseReadOnly
from memory.household import Household
from memory.members import Member
from tests.memory.conftest import TurnedClock
from tests.project import ROOT

PIN = "4821"


@pytest.fixture
def locked(household: Household, ana: Member) -> Member:
    """Ana, who has a PIN, and has gone."""
    household.doors.set_pin(ana, PIN)
    household.leave(ana.id)
    return ana


def test_a_pin_that_another_window_takes_off_while_it_is_typed_keeps_nobody_out(
    household: Household, locked: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    has = Pins.has

    def and_then_it_is_taken_off(pins: Pins, member_id: str) -> bool:
        found = has(pins, member_id)
        pins.remove(member_id)
        return found

    monkeypatch.setattr(Pins, "has", and_then_it_is_taken_off)
    household.doors.enter(locked, PIN)
    household.member(locked.id)


def wrong(household: Household, member: Member, times: int) -> None:
    for _ in range(times):
        with pytest.raises(PinWrong):
            household.doors.enter(member, "0000")


def test_the_file_of_whoever_has_a_pin_opens_once_it_is_given(household: Household, locked: Member) -> None:
    with pytest.raises(SecretNeeded):
        household.member(locked.id)
    with pytest.raises(PinWrong):
        household.doors.enter(locked, "4822")
    with pytest.raises(SecretNeeded):
        household.member(locked.id)
    household.doors.enter(locked, PIN)
    assert household.member(locked.id).chats.list() == []
    household.leave(locked.id)
    with pytest.raises(SecretNeeded):
        household.member(locked.id)


def test_whoever_has_none_is_open_to_the_house(household: Household, ana: Member) -> None:
    assert household.doors.secret_of(ana.id) is None
    household.member(ana.id)


def test_the_trainer_opens_files_unattended(anew: Callable[..., Household], locked: Member) -> None:
    with anew(unattended=True) as household:
        household.member(locked.id)


def test_a_pin_is_nowhere_in_the_home_and_in_no_error(household: Household, ana: Member, home: Home) -> None:
    pin = "918273645"
    code = household.doors.set_pin(ana, pin)
    household.leave(ana.id)
    with pytest.raises(PinWrong) as refused:
        household.doors.enter(ana, "918273646")
    assert "9182736" not in repr(refused.value)
    household.doors.enter(ana, pin)
    household.close()
    for path in (each for each in home.root.rglob("*") if each.is_file()):
        content = path.read_bytes()
        assert not [each for each in (pin, "918273646", code, code.replace("-", "")) if each.encode() in content], path


@pytest.mark.parametrize("pin", ["", "123", "12a4", "1234567890123", "¹²³⁴x", "12 34"])
def test_a_pin_is_digits_and_neither_too_few_nor_too_many(household: Household, ana: Member, pin: str) -> None:
    with pytest.raises(PinFormWrong):
        household.doors.set_pin(ana, pin)
    assert household.doors.secret_of(ana.id) is None


def test_digits_are_the_same_in_every_script_and_with_spaces_around(household: Household, ana: Member) -> None:
    household.doors.set_pin(ana, "４８２１")
    household.leave(ana.id)
    household.doors.enter(ana, " 4821\n")


def test_after_ten_wrong_ones_somebody_waits_longer_each_time(
    household: Household, locked: Member, clock: TurnedClock, settings: Settings
) -> None:
    numbers = settings.memory.entrance
    wrong(household, locked, numbers.free_tries)
    waits = []
    for _ in range(10 - numbers.free_tries):
        with pytest.raises(TooManyTries) as refused:
            household.doors.enter(locked, PIN)
        waits.append(int(refused.value.facts["seconds"]))
        clock.now += waits[-1]
        wrong(household, locked, 1)
    assert waits == sorted(waits)
    # The clock of the tests moves on by a second with each look.
    assert [round(wait / numbers.first_wait_seconds) for wait in waits] == [1, 2, 4, 8, 16]
    with pytest.raises(TooManyTries):
        household.doors.enter(locked, PIN)
    clock.now += numbers.longest_wait_seconds
    household.doors.enter(locked, PIN)
    household.leave(locked.id)
    wrong(household, locked, numbers.free_tries)


def test_no_wait_is_longer_than_the_longest(household: Household, locked: Member, clock: TurnedClock) -> None:
    for _ in range(60):
        clock.now += household.settings.entrance.longest_wait_seconds
        wrong(household, locked, 1)
    with pytest.raises(TooManyTries) as refused:
        household.doors.enter(locked, PIN)
    assert int(refused.value.facts["seconds"]) <= household.settings.entrance.longest_wait_seconds


def test_a_restart_ends_no_wait(household: Household, locked: Member, anew: Callable[..., Household]) -> None:
    wrong(household, locked, household.settings.entrance.free_tries)
    household.close()
    with anew() as again, pytest.raises(TooManyTries):
        again.doors.enter(locked, PIN)


def test_a_clock_that_is_set_back_ends_no_wait_and_makes_it_no_longer(
    household: Household, locked: Member, clock: TurnedClock
) -> None:
    wrong(household, locked, household.settings.entrance.free_tries)
    clock.now -= 86_400
    with pytest.raises(TooManyTries) as refused:
        household.doors.enter(locked, PIN)
    first = household.settings.entrance.first_wait_seconds
    assert int(refused.value.facts["seconds"]) <= first
    clock.now += first
    household.doors.enter(locked, PIN)


TRY = """
import sys
from configs.errors import EnlaceError
from configs.home import Home
from configs.settings import load_settings
from memory.household import Household
from pathlib import Path

home, member, first = Home(Path(sys.argv[1])), sys.argv[2], int(sys.argv[3])
options = {"memory": {"entrance": {"memory_mib": 8, "passes": 1, "lanes": 1}}}
with Household.open(home, load_settings(home, {}, options).memory) as household:
    found = household.members.get(member)
    for pin in range(first, first + 10):
        try:
            household.doors.enter(found, f"{pin:04}")
            print("in")
        except EnlaceError as error:
            print(error.code)
"""


def test_several_processes_have_no_more_tries_than_one(household: Household, locked: Member, home: Home) -> None:
    found = [
        subprocess.Popen(
            [sys.executable, "-c", TRY, str(home.root), locked.id, str(first)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        for first in (0, 100, 200)
    ]
    told = "".join(process.communicate(timeout=120)[0] for process in found).split()
    assert len(told) == 30
    assert told.count("pin_wrong") == household.settings.entrance.free_tries
    assert told.count("too_many_tries") == 30 - household.settings.entrance.free_tries


def test_the_code_of_a_pin_sets_another_and_is_used_up(household: Household, ana: Member) -> None:
    code = household.doors.set_pin(ana, PIN)
    household.leave(ana.id)
    with pytest.raises(WayBackWrong):
        household.doors.recover(ana, "aaaa-bbbb-cccc-dddd-eeee", "7777")
    # A form that cannot be uses nothing up.
    with pytest.raises(PinFormWrong):
        household.doors.recover(ana, code, "77")
    household.doors.recover(ana, f" {code.upper().replace('-', ' ')}", "7777")
    household.leave(ana.id)
    with pytest.raises(WayBackWrong):
        household.doors.recover(ana, code, "8888")
    household.doors.enter(ana, "7777")


def test_the_code_is_guessed_no_more_often_than_the_pin(household: Household, locked: Member) -> None:
    for _ in range(household.settings.entrance.free_tries):
        with pytest.raises(WayBackWrong):
            household.doors.recover(locked, "aaaa-bbbb-cccc-dddd-eeee", "7777")
    with pytest.raises(TooManyTries):
        household.doors.enter(locked, PIN)


def test_a_pin_that_is_set_elsewhere_shuts_no_window_that_is_open(
    household: Household, ana: Member, anew: Callable[..., Household]
) -> None:
    household.member(ana.id)
    with anew() as elsewhere:
        elsewhere.doors.set_pin(ana, PIN)
    household.member(ana.id).chats.list()
    with anew() as later, pytest.raises(SecretNeeded):
        later.member(ana.id)


def test_nobody_sets_a_pin_for_whoever_has_not_given_theirs(household: Household, locked: Member) -> None:
    for what in (lambda: household.doors.set_pin(locked, "1111"), lambda: household.doors.remove_pin(locked)):
        with pytest.raises(SecretNeeded):
            what()


def test_whoever_has_lost_pin_and_code_begins_anew_with_what_they_shared(
    household: Household, ana: Member, bruno: Member, home: Home
) -> None:
    memory = household.member(bruno.id)
    memory.facts.add("the key is under the stone", visibility="shared")
    memory.chats.question(memory.chats.start().id, "what nobody shall read")
    household.doors.set_pin(bruno, PIN)
    household.leave(bruno.id)
    household.members.empty(bruno.id)
    assert household.doors.secret_of(bruno.id) is None
    assert household.member(bruno.id).chats.list() == []
    assert [fact.text for fact in household.member(bruno.id).facts.list()] == ["the key is under the stone"]
    assert b"what nobody shall read" not in home.member_db(bruno.id).read_bytes()


def test_stronger_numbers_are_taken_over_when_the_pin_is_given(
    household: Household, locked: Member, home: Home
) -> None:
    stronger = {"memory": {"entrance": {"memory_mib": 9, "passes": 1, "lanes": 1}}}
    with Household.open(home, load_settings(home, {}, stronger).memory) as later:
        later.doors.enter(locked, PIN)
        hashed = later._family.value("SELECT hash FROM pins")
    assert hashed.startswith("$argon2id$")
    assert "m=9216,t=1,p=1" in hashed
    household.doors.enter(locked, PIN)


def test_bytes_that_are_no_text_are_a_wrong_pin_like_any_other(household: Household, locked: Member) -> None:
    with pytest.raises(PinWrong):
        household.doors.enter(locked, f"{PIN}\udcff")
    household.doors.enter(locked, PIN)


def test_a_file_that_the_system_does_not_give_out_is_said_to_be_so(
    household: Household, ana: Member, home: Home
) -> None:
    home.member_db(ana.id).mkdir(parents=True)
    with pytest.raises(DatabaseReadOnly):
        household.member(ana.id)
