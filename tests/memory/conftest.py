"""A household in a fresh home, with two members, and a clock that tests turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from configs.home import Home
from configs.settings import Settings, load_settings
from memory.household import Household, MemberMemory
from memory.members import Member
from tests.conftest import WORDS_ALONE


@dataclass
class TurnedClock:
    """Time that moves on by a second with every look at it, and that can be set."""

    now: float = 1_700_000_000.0

    def __call__(self) -> float:
        self.now += 1
        return self.now


# As quick as Argon2id may be made.
QUICK = {"memory": {"entrance": {"memory_mib": 8, "passes": 1, "lanes": 1}}}


@pytest.fixture
def settings(home: Home) -> Settings:
    return load_settings(home, {WORDS_ALONE: "false"}, QUICK)


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


@pytest.fixture
def anew(home: Home, settings: Settings, clock: TurnedClock) -> Callable[..., Household]:
    """The household as another process has it."""

    def opened(*, unattended: bool = False) -> Household:
        return Household.open(home, settings.memory, clock, unattended=unattended)

    return opened


SAID = "xylophonium"


@pytest.fixture
def telling(household: Household, ana: Member) -> Member:
    """Ana, who has said something that nobody else shall read."""
    memory = household.member(ana.id)
    question = memory.chats.question(memory.chats.start().id, f"Where is my {SAID}, José?")
    memory.chats.finish_answer(memory.chats.begin_answer(question.id, "v0").id, f"In the {SAID} box.")
    memory.facts.add(f"my {SAID} is in the box")
    memory.lessons.add([{"role": "user", "content": f"Where is the {SAID}?"}], "In the box.", "Nowhere.")
    memory.voice.set("briefly")
    return ana


def everything(household: Household, member: Member) -> list[str]:
    """What a member said, found in every way there is."""
    memory = household.member(member.id)
    chats = [each.content for chat in memory.chats.list() for each in memory.chats.path(chat.id)]
    found = [hit.message.content for hit in memory.chats.search(f"jose {SAID}")]
    facts = [fact.text for fact in memory.facts.search("box")]
    recalled = [entry.lesson.chosen for entry in memory.recall.find(f"Where is the {SAID}?", member).lessons]
    return [*chats, *found, *facts, *recalled, memory.voice.get()]


def in_plain(home: Home) -> list[str]:
    """The files in which somebody without any key reads what Ana said."""
    files = (each for each in home.root.rglob("*") if each.is_file())
    return [str(path.relative_to(home.root)) for path in files if SAID.encode() in path.read_bytes().lower()]
