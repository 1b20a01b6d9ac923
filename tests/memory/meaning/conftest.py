"""A member's memory in which questions are compared by what they mean."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from configs.home import Home
from configs.settings import Settings, load_settings
from memory.household import Household, MemberMemory


@pytest.fixture
def settings(home: Home) -> Settings:
    """As shipped, vectors and all."""
    return load_settings(home, {})


@pytest.fixture
def household(home: Home, settings: Settings) -> Iterator[Household]:
    with Household.open(home, settings.memory) as opened:
        yield opened


@pytest.fixture
def memory(household: Household) -> MemberMemory:
    return household.member(household.members.add("Ana", "es").id)
