"""``enlace snapshots mirror``: what the snapshots need lies elsewhere too, and comes back from there."""

from __future__ import annotations

import json
from pathlib import Path

from app.session import Session
from tests.app.conftest import Run


def test_what_the_snapshots_need_goes_there_once_and_comes_back(here: Run, session: Session, tmp_path: Path) -> None:
    digest = session.snapshot().digest
    there = str(tmp_path / "mirror")
    assert json.loads(here("snapshots", "mirror", there, "--json").out)["copied"] == [digest]
    assert "0 copied" in here("snapshots", "mirror", ENLACE_MEMORY__MIRROR=there).out
    session.household.artifacts.remove(digest)
    done = here("snapshots", "mirror", there, "--fetch")
    assert done.code == 0
    assert "1 brought back" in done.out
    session.household.artifacts.verify(digest)


def test_what_is_nowhere_is_said_and_is_a_failure(here: Run, session: Session, tmp_path: Path) -> None:
    session.household.artifacts.remove(session.snapshot().digest)
    done = here("snapshots", "mirror", str(tmp_path / "mirror"), "--fetch")
    assert done.code == 1
    assert "1 is neither here nor at" in done.out


def test_without_an_address_it_asks_for_one(here: Run) -> None:
    done = here("snapshots", "mirror")
    assert done.code == 2
    assert "memory.mirror" in done.err
