"""What is said of a manifest by which nothing can be done here."""

from __future__ import annotations

import pytest

from configs.settings import default_settings
from trainer.errors import ManifestStale
from trainer.pipeline.resolving import Resolved, Stale, check_fresh
from trainer.pipeline.usual import USUAL


def test_what_is_not_here_is_told_with_a_dash_in_its_place() -> None:
    found = Resolved({}, default_settings(), USUAL, None, (Stale("lessons.a", "0" * 64, ""),))
    with pytest.raises(ManifestStale) as refused:
        check_fresh(found, "night.yaml")
    assert refused.value.facts == {"file": "night.yaml", "what": "lessons.a", "expected": "0" * 64, "found": "—"}
