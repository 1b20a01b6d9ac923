from __future__ import annotations

import pytest

from benchmarks.plan import load_plan
from benchmarks.smoothness import delays_of
from benchmarks.streaming_app import CHARACTERS_PER_TOKEN, SIDES, TOKENS_PER_SECOND


@pytest.mark.parametrize("side", SIDES)
def test_an_answer_streams_at_its_pace_in_a_terminal_where_somebody_types(side: str) -> None:
    size = {"characters": 3000, "preloaded": 2000, "keys_per_second": 8.0, "timeout_s": 90.0}
    measured = delays_of(side, load_plan(quick=True).interface.model_copy(update=size))
    due = 1000 / (CHARACTERS_PER_TOKEN * TOKENS_PER_SECOND)
    assert measured["seconds"] >= due - 1 / TOKENS_PER_SECOND
    assert measured["typed"] >= 3
    assert len(measured["delays"]) >= 100
    assert all(delay >= 0 for delay in measured["delays"])
