"""What was deleted can be restored for a while; then it goes for good by itself."""

from __future__ import annotations

from configs.home import Home
from configs.settings import Settings
from memory.household import Household
from tests.memory.conftest import TurnedClock

DAY_S = 86_400


def test_what_was_deleted_goes_for_good_after_the_days_of_the_settings(
    home: Home, settings: Settings, clock: TurnedClock
) -> None:
    def opened() -> Household:
        return Household.open(home, settings.memory, clock)

    with opened() as household:
        ana = household.members.add("Ana", "es").id
        memory, bruno = household.member(ana), household.member(household.members.add("Bruno", "es").id)
        gone, kept = (memory.chats.start(title) for title in ("gone", "kept"))
        memory.chats.delete(gone.id)
        own = memory.facts.add("the key is under the mat")
        shared = bruno.facts.add("the bins go out on Monday", visibility="shared")
        memory.facts.forget(own.id)
        memory.facts.forget(shared.id)
    clock.now += (settings.memory.deleted_days - 1) * DAY_S
    with opened() as household:
        memory = household.member(ana)
        assert [each.id for each in memory.chats.list(deleted=True)] == [gone.id]
        assert len(memory.facts.list(forgotten=True)) == 2
    clock.now += 2 * DAY_S
    with opened() as household:
        memory = household.member(ana)
        assert memory.chats.list(deleted=True) == []
        assert [each.id for each in memory.chats.list()] == [kept.id]
        # What another said is theirs to lose.
        assert [each.id for each in memory.facts.list(forgotten=True)] == [shared.id]
