"""When a home's training is due, what keeps it from beginning, and that each due one is begun once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from configs.home import Home
from configs.settings import Settings
from memory.household import Household
from memory.lessons import Lesson
from memory.pausing import pause, resume
from memory.processes import own_identity
from tests.trainer.night.test_hours import MADRID, shown
from tests.trainer.night.test_markers import names
from trainer.night.machine import Machine
from trainer.night.markers import Markers
from trainer.night.night import Night

NEEDED = 3


class House:
    """A household whose clock and machine say what a test wants."""

    def __init__(self, home: Home, settings: Settings, household: Household) -> None:
        self.home = home
        self.household = household
        self.now = shown("2026-01-11 03:00")
        self.mains: bool | None = None
        self._member = household.members.default()
        self._number = 0
        self._settings = settings.training.night.model_copy(update={"pairs": NEEDED})

    def night(self) -> Night:
        """As a process of its own would see it."""
        house = self

        class ThisMachine(Machine):
            def on_mains(self) -> bool | None:
                return house.mains

            def celsius(self) -> float | None:
                return None

        markers = Markers(self.home.night, self._settings.lease_seconds, lambda: self.now)
        machine = ThisMachine(self.home.busy_flag, lambda: self.now)
        return Night(self._settings, self.household, markers, machine, lambda: self.now, MADRID)

    def codes(self) -> list[str]:
        return [reason.code for reason in self.night().state().reasons]

    def teach(self, count: int) -> list[Lesson]:
        """Share so many corrections; every second one has a rejected answer."""
        found = []
        for _ in range(count):
            self._number += 1
            question = [{"role": "user", "content": f"What is in box {self._number}?"}]
            rejected = "Nothing at all." if self._number % 2 else None
            lessons = self.household.member(self._member.id).lessons
            found.append(lessons.add(question, f"Toy {self._number}.", rejected, visibility="shared"))
        return found

    def withdraw(self, lessons: list[Lesson]) -> None:
        for lesson in lessons:
            self.household.member(self._member.id).lessons.withdraw(lesson.id)

    def judged_by_hand(self) -> None:
        """Somebody trained everything, up to a verdict."""
        run = self.household.runs.create("lessons")
        self.household.runs.give(run.id, [lesson.id for lesson in self.household.lessons_for_training()])
        self.household.runs.finish(run.id, "held")


@pytest.fixture
def house(home: Home, settings: Settings) -> Iterator[House]:
    made: list[House] = []
    with Household.open(home, settings.memory, lambda: made[0].now if made else 0.0) as household:
        made.append(House(home, settings, household))
        yield made[0]


def test_a_marker_is_written_when_the_corrections_are_enough_and_not_one_before(house: House) -> None:
    house.teach(NEEDED - 1)
    claim, reasons = house.night().look()
    assert claim is None
    assert [(reason.code, reason.facts) for reason in reasons] == [("few_pairs", {"pairs": 2, "needed": 3})]
    assert names(house.home) == []
    house.teach(1)
    state = house.night().state()
    assert (state.pairs, state.preference, state.needed, state.marker, state.reasons) == (3, 2, 3, None, ())
    # Only to look changes nothing.
    assert names(house.home) == []
    claim, reasons = house.night().look()
    assert reasons == ()
    assert claim is not None
    assert names(house.home) == ["0001.claimed"]


def test_by_day_the_marker_waits_and_the_night_claims_it(house: House) -> None:
    house.teach(NEEDED)
    house.now = shown("2026-01-11 15:00")
    claim, reasons = house.night().look()
    assert claim is None
    assert [reason.code for reason in reasons] == ["not_quiet"]
    assert names(house.home) == ["0001.pending"]
    house.now = shown("2026-01-11 23:30")
    assert house.night().look()[0] is not None


def test_what_two_ask_for_at_once_is_begun_by_one(house: House) -> None:
    house.teach(NEEDED)
    first, second = house.night(), house.night()
    assert first.look()[0] is not None
    claim, reasons = second.look()
    assert claim is None
    assert [reason.code for reason in reasons] == ["claimed"]


def test_every_reason_is_told_at_once(house: House) -> None:
    house.now = shown("2026-01-11 12:00")
    house.mains = False
    assert house.codes() == ["few_pairs", "not_quiet", "on_battery"]


def test_while_a_training_runs_none_begins_and_what_it_trains_makes_no_other_due(house: House) -> None:
    house.teach(NEEDED)
    run = house.household.runs.create("lessons")
    house.household.runs.give(run.id, [lesson.id for lesson in house.household.lessons_for_training()])
    assert house.codes() == ["trainer_busy"]
    house.night().look()
    assert names(house.home) == []
    house.household.runs.finish(run.id, "shipped")
    house.teach(1)
    assert house.codes() == ["few_pairs"]
    house.night().look()
    assert names(house.home) == []


def test_a_marker_whose_corrections_were_trained_by_hand_is_done_with(house: House) -> None:
    house.teach(NEEDED)
    house.now = shown("2026-01-11 15:00")
    house.night().look()
    house.judged_by_hand()
    house.teach(1)
    assert house.codes() == ["few_pairs", "not_quiet"]
    house.night().look()
    assert names(house.home) == ["0001.completed"]


def test_a_marker_whose_holder_was_killed_after_the_verdict_is_done_with_and_nothing_is_trained_again(
    house: House,
) -> None:
    house.teach(NEEDED)
    assert house.night().look()[0] is not None
    (mine,) = house.home.night.glob("*.claimed.*")
    boot, pid, started = own_identity().split(":")
    mine.rename(mine.with_name(mine.name.replace(f"{boot}_{pid}_{started}", f"{boot}_{pid}_{int(started) + 1}")))
    house.judged_by_hand()
    claim, reasons = house.night().look()
    assert claim is None
    assert [reason.code for reason in reasons] == ["few_pairs"]
    assert names(house.home) == ["0001.completed"]


def test_a_marker_whose_corrections_were_all_withdrawn_is_done_with_and_one_that_lost_some_is_not(house: House) -> None:
    lessons = house.teach(NEEDED)
    house.now = shown("2026-01-11 15:00")
    house.night().look()
    house.withdraw(lessons[:2])
    assert house.codes() == ["not_quiet"]
    house.night().look()
    assert names(house.home) == ["0001.pending"]
    house.withdraw(lessons[2:])
    house.night().look()
    assert names(house.home) == ["0001.completed"]


def test_over_midnight_and_a_clock_that_is_set_back_and_changed_there_is_one_marker_and_one_claim(house: House) -> None:
    house.teach(NEEDED)
    night, claims = house.night(), []
    for moment in (
        shown("2026-10-24 22:00"),
        shown("2026-10-24 23:59"),
        shown("2026-10-25 00:01"),
        shown("2026-10-24 22:30"),  # set back
        shown("2026-10-24 23:00"),
        shown("2026-10-25 02:30"),
        shown("2026-10-25 02:30", fold=1),
        shown("2026-10-25 06:59"),
        shown("2026-10-25 07:00"),
    ):
        house.now = moment
        claim, _ = night.look()
        claims += [claim] if claim else []
        assert len(names(house.home)) == 1
    assert len(claims) == 1
    house.judged_by_hand()
    claims[0].complete()
    house.now = shown("2026-10-25 23:30")
    assert house.codes() == ["few_pairs"]


def test_none_begins_while_trainings_are_paused(house: House) -> None:
    house.teach(NEEDED)
    pause(house.home, "Ana", lambda: 1.0)
    (reason,) = house.night().state().reasons
    assert (reason.code, reason.facts) == ("paused", {"who": "Ana"})
    assert house.night().look()[0] is None
    assert not house.night().lasting()
    resume(house.home)
    assert house.night().look()[0] is not None


def test_a_search_or_a_members_own_training_that_failed_makes_the_familys_wait_for_nothing(house: House) -> None:
    house.teach(NEEDED)
    ana = house.household.members.default()
    for kind, member in (("blame", None), ("private", ana.id)):
        house.household.runs.finish(house.household.runs.create(kind, member=member).id, "failed")
    assert house.codes() == []
