"""A household in a fresh home, with two members, and a clock that tests turn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from configs.home import Home
from configs.settings import Settings
from memory.household import Household, MemberMemory
from memory.members import Member


@dataclass
class TurnedClock:
    """Time that moves on by a second with every look at it, and that can be set."""

    now: float = 1_700_000_000.0

    def __call__(self) -> float:
        self.now += 1
        return self.now


@pytest.fixture
def clock() -> TurnedClock:
    return TurnedClock()


@pytest.fixture
def household(home: Home, settings: Settings, clock: TurnedClock) -> Iterator[Household]:
    with Household.open(home, settings.memory, clock) as opened:
        yield opened


@pytest.fixture
def ana(household: Household) -> Member:
    return household.members.add("Ana", "es")


@pytest.fixture
def bruno(household: Household, ana: Member) -> Member:
    return household.members.add("Bruno", "en")


@pytest.fixture
def memory(household: Household, ana: Member) -> MemberMemory:
    """What belongs to Ana."""
    return household.member(ana.id)


@pytest.fixture
def other(household: Household, bruno: Member) -> MemberMemory:
    """What belongs to Bruno."""
    return household.member(bruno.id)
