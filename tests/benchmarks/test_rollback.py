"""The rollback that is measured is one: the key, the swap, and an answer by the snapshot before."""

from __future__ import annotations

from benchmarks import rollback
from benchmarks.plan import load_plan


def test_a_round_is_timed_from_the_key_to_the_end_of_an_answer() -> None:
    plan = load_plan(quick=True)
    one = plan.model_copy(update={"rollback": plan.rollback.model_copy(update={"rounds": 1})})
    moved, first, whole = rollback.rollback(one)
    assert None not in (moved.value, first.value, whole.value)
    assert 0 < moved.value < first.value <= whole.value  # type: ignore[operator]
    assert (first.bound, first.bound_on, first.samples) == (1.0, "value", 1)
