"""A base that is large for the machine is taught in little more memory than its file takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.large_base import one_step


@pytest.mark.soak
def test_a_step_on_a_base_of_1500_million_weights_takes_little_more_than_its_file(tmp_path: Path) -> None:
    step = one_step(tmp_path, timeout_s=1800)
    assert step.weights > 1.5e9
    assert step.peak_bytes <= step.bound_bytes
