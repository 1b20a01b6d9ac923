"""Lessons that the weights know by themselves: measured, not assumed, and unlearned by a rollback."""

from __future__ import annotations

import pytest

from configs.home import Home
from memory.household import Household, MemberMemory
from memory.manifests import Adapter

QUESTION, IN_SPANISH = "What is the name of our dog?", "¿Cómo se llama nuestro perro?"


def teach(memory: MemberMemory, *, shared: bool = True) -> str:
    messages = [{"role": "user", "content": QUESTION}]
    return memory.lessons.add(messages, "Toby.", "Max.", visibility="shared" if shared else "private").id


def learned(memory: MemberMemory, question: str = QUESTION) -> bool:
    (found,) = memory.recall.find(question, memory.member).lessons
    return found.learned


@pytest.fixture
def two_snapshots(household: Household, home: Home) -> tuple[str, str]:
    """The base, and one that was trained and answers now."""
    file = home.root / "adapter.gguf"
    file.write_bytes(b"adapter")
    base = household.snapshots.create("starter", "0" * 64, adapters=[], parent=None, run=None, gate=None, reason="base")
    household.snapshots.promote(base.id, "a test", "start")
    adapters = [Adapter(household.artifacts.put_file(file), 1.0)]
    trained = household.snapshots.create(
        "starter", "0" * 64, adapters=adapters, parent=base.id, run=None, gate=None, reason="training"
    )
    household.snapshots.promote(trained.id, "a test", "a run")
    return base.id, trained.id


def test_what_the_weights_that_answer_know_is_said_to_be_learned_until_a_rollback_unlearns_it(
    household: Household, memory: MemberMemory, two_snapshots: tuple[str, str]
) -> None:
    lesson = teach(memory)
    assert not learned(memory)
    household.learned.record(1, [lesson])
    assert learned(memory)
    household.snapshots.rollback("a test", "worse")
    assert not learned(memory)


def test_what_was_learned_in_one_language_is_not_learned_in_the_other(
    household: Household, memory: MemberMemory, two_snapshots: tuple[str, str]
) -> None:
    household.learned.record(1, [teach(memory)])
    assert not learned(memory, IN_SPANISH)


def test_a_lesson_that_is_changed_is_not_learned_any_more(
    household: Household, memory: MemberMemory, two_snapshots: tuple[str, str]
) -> None:
    lesson = teach(memory)
    household.learned.record(1, [lesson])
    memory.lessons.edit(lesson, chosen="Rex.")
    assert not learned(memory)


def test_a_private_lesson_is_learned_by_the_members_own_adapter_alone(
    household: Household, memory: MemberMemory, home: Home, two_snapshots: tuple[str, str]
) -> None:
    lesson = teach(memory, shared=False)
    household.learned.record(1, [lesson])
    assert not learned(memory)
    file = home.root / "own.gguf"
    file.write_bytes(b"own")
    made = memory.private.promote(file, household.snapshots.current(), "r0001", {})
    memory.private.learned.record(int(made.id.removeprefix("p")), [lesson])
    assert learned(memory)
    # It was trained over the snapshot that is gone back from, and answers nobody over another.
    household.snapshots.rollback("a test", "worse")
    assert not learned(memory)
