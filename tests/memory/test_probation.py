"""A snapshot's first answers decide whether it stays: by a rule for few answers, member by member, and once."""

from __future__ import annotations

import random

import pytest

from configs.sections.memory import ProbationSettings
from configs.settings import Settings
from memory.household import Household, MemberMemory
from memory.members import Member
from memory.probation import Counts, Probation, chance_of_as_many


@pytest.fixture
def rule(settings: Settings) -> ProbationSettings:
    return settings.memory.probation


def promote(household: Household, run: str | None = "r0001") -> str:
    """Another snapshot answers."""
    snapshots = household.snapshots
    parent = snapshots.current().id
    made = snapshots.create("base", "0" * 64, adapters=(), parent=parent, run=run, reason="training", gate=None)
    return snapshots.promote(made.id, "night", "passed").id


@pytest.fixture(autouse=True)
def base(household: Household) -> None:
    household.snapshots.ensure_base("base", "0" * 64)


def answered(memory: MemberMemory, snapshot: str, number: int, *, bad: int = 0) -> list[str]:
    """``number`` answers, the first ``bad`` of them with a thumb down; their ids."""
    chats, ids = memory.chats, []
    for place in range(number):
        question = chats.question(chats.start().id, "¿Qué hay?")
        answer = chats.begin_answer(question.id, snapshot)
        chats.finish_answer(answer.id, "Esto.")
        if place < bad:
            chats.rate(answer.id, -1)
        ids.append(answer.id)
    return ids


def now(household: Household, member: Member) -> Probation:
    found = household.count_answers(member.id)
    assert found is not None
    return found


def test_fishers_test_of_tea_tasting() -> None:
    # The table of Fisher's lady: 4 cups of each kind, 3 of 4 told right; P(3 or more) = 17/70.
    assert chance_of_as_many([Counts(4, 1, 4, 3)]) == pytest.approx(17 / 70)


def test_members_are_compared_with_themselves() -> None:
    # Who always complains asks more after the change: pooled, that would look like a rise.
    critical, content = Counts(10, 9, 30, 27), Counts(90, 1, 10, 0)
    assert chance_of_as_many([Counts(100, 10, 40, 27)]) < 1e-9
    assert chance_of_as_many([critical, content]) > 0.5


def test_a_rise_in_bad_answers_fails_and_says_by_what_numbers(
    household: Household, ana: Member, memory: MemberMemory
) -> None:
    answered(memory, "v0", 30, bad=1)
    v1 = promote(household)
    answered(memory, v1, 9, bad=5)
    found = now(household, ana)
    assert found.counts == Counts(30, 1, 9, 5)
    assert (found.snapshot, found.previous, found.failed) == ("v1", "v0", True)
    assert found.chance == pytest.approx(chance_of_as_many([found.counts]))


@pytest.mark.parametrize(("before_bad", "bad"), [(1, 2), (6, 2), (0, 0), (15, 5)])
def test_as_many_bad_answers_as_ever_do_not(
    household: Household, ana: Member, memory: MemberMemory, before_bad: int, bad: int
) -> None:
    answered(memory, "v0", 30, bad=before_bad)
    answered(memory, promote(household), 10, bad=bad)
    assert not now(household, ana).failed


def test_an_answer_that_was_corrected_is_bad_once_and_the_correction_is_no_answer(
    household: Household, ana: Member, memory: MemberMemory
) -> None:
    answered(memory, "v0", 5)
    chats = memory.chats
    (wrong,) = answered(memory, promote(household), 1, bad=1)
    corrected = chats.begin_answer(chats.message(wrong).parent_id or "", "v1")
    chats.finish_answer(corrected.id, "Aquello.", "complete", {"corrects": wrong})
    assert now(household, ana).counts == Counts(5, 0, 1, 1)


def test_what_ended_badly_or_was_gone_back_from_or_is_the_members_own_does_not_count(
    household: Household, ana: Member, memory: MemberMemory
) -> None:
    answered(memory, "v0", 4)
    answered(memory, promote(household), 7, bad=7)
    household.snapshots.rollback("Ana", "worse")
    answered(memory, "v0", 1)
    answered(memory, "v0+0a1b2c3d", 2, bad=2)
    v2 = promote(household)
    answered(memory, v2, 2)
    answered(memory, f"{v2}+0a1b2c3d", 3, bad=3)
    failed = memory.chats.begin_answer(memory.chats.question(memory.chats.start().id, "¿Y?").id, v2)
    memory.chats.finish_answer(failed.id, "", "failed")
    assert now(household, ana).counts == Counts(5, 0, 2, 0)


def test_everybodys_answers_are_counted_without_anybody_elses_file(
    household: Household, ana: Member, memory: MemberMemory, bruno: Member, other: MemberMemory
) -> None:
    answered(memory, "v0", 20)
    answered(other, "v0", 20)
    v1 = promote(household)
    answered(memory, v1, 3, bad=3)
    answered(other, v1, 4)
    assert now(household, ana).counts == Counts(20, 0, 3, 3)
    assert now(household, bruno).counts == Counts(40, 0, 7, 3)
    household.members.remove(bruno.id)
    assert now(household, ana).counts == Counts(20, 0, 3, 3)


def test_it_is_over_after_its_answers_and_stays_over(
    household: Household, ana: Member, memory: MemberMemory, rule: ProbationSettings
) -> None:
    answered(memory, "v0", 20)
    v1 = promote(household)
    ids = answered(memory, v1, rule.answers)
    assert now(household, ana).counts.after == rule.answers
    ids += answered(memory, v1, 1)
    assert household.count_answers(ana.id) is None
    for each in ids:
        memory.chats.rate(each, -1)
    assert household.count_answers(ana.id) is None
    assert household.probations.state() is None


def test_a_base_another_model_and_what_somebody_brought_back_are_on_no_probation(
    household: Household, ana: Member, memory: MemberMemory
) -> None:
    answered(memory, "v0", 3, bad=3)
    assert household.count_answers(ana.id) is None
    answered(memory, promote(household, run=None), 3, bad=3)
    assert household.count_answers(ana.id) is None
    v1 = promote(household)
    answered(memory, v1, 1)
    assert now(household, ana).snapshot == v1
    household.snapshots.rollback("Ana", "worse")
    assert household.count_answers(ana.id) is None
    household.snapshots.rollback("Ana", "not so", to=v1)
    assert household.count_answers(ana.id) is None


def test_without_answers_before_it_nothing_can_have_risen(
    household: Household, ana: Member, memory: MemberMemory
) -> None:
    answered(memory, promote(household), 10, bad=10)
    assert not now(household, ana).failed


@pytest.mark.parametrize("share", [0.05, 0.2, 0.4])
def test_an_unchanged_snapshot_is_kept_nineteen_times_in_twenty(rule: ProbationSettings, share: float) -> None:
    rng, times, gone = random.Random(0), 400, 0
    for _ in range(times):
        before_bad, bad = sum(rng.random() < share for _ in range(rule.compared)), 0
        for after in range(1, rule.answers + 1):
            bad += rng.random() < share
            # Looked at after each answer, as a household does.
            counts = Counts(rule.compared, before_bad, after, bad)
            if bad >= rule.fewest_bad and chance_of_as_many([counts]) <= rule.chance:
                gone += 1
                break
    assert gone / times <= 0.05


def test_one_that_is_wrong_half_the_time_goes(rule: ProbationSettings) -> None:
    rng, times, kept = random.Random(0), 200, 0
    for _ in range(times):
        before_bad, bad = sum(rng.random() < 0.1 for _ in range(60)), 0
        for after in range(1, rule.answers + 1):
            bad += rng.random() < 0.5
            if chance_of_as_many([Counts(60, before_bad, after, bad)]) <= rule.chance and bad >= rule.fewest_bad:
                break
        else:
            kept += 1
    assert kept / times <= 0.03
