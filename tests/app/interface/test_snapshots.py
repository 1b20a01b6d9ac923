"""The screen of snapshots lets another one answer with one key, says what that waits for, and undoes it."""

from __future__ import annotations

import asyncio

import pytest

from app.going_back import go_back
from app.interface.learning import snapshots as snapshots_pane
from app.session import Session
from configs.home import Home
from memory.manifests import Adapter
from memory.snapshots import Snapshot
from tests.app.interface.conftest import Opener
from tests.app.interface.test_learning import VERDICT, learning


@pytest.fixture
def session(home: Home) -> Session:
    """The home as it is before the interface opens."""
    return Session({"ENLACE_HOME": str(home.root), "LANG": "es"})


async def test_a_snapshot_answers_again_and_that_is_undone_with_one_key(
    session: Session, open_interface: Opener
) -> None:
    base, snapshots = session.snapshot(), session.household.snapshots
    trained = snapshots.create(
        base.base_name, base.base_sha256, adapters=(), parent=base.id, run="r0001", reason="lessons", gate=VERDICT
    )
    snapshots.promote(trained.id, "enlace", "24 lecciones")
    async with open_interface() as person:
        await learning(person, "f4")
        await person.until(lambda: "24 lecciones" in person.screen_text())
        assert "● v1" in person.screen_text()
        person.find("SnapshotList").focus()
        await person.pilot.press("down", "v")
        await person.until(lambda: "Vuelve a responder v0." in person.screen_text())
        assert snapshots.current().id == "v0"
        await person.pilot.press("ctrl+z")
        await person.until(lambda: snapshots.current().id == "v1")
        assert snapshots.rollback("Ana", "again").id == "v0"


async def test_while_a_snapshot_is_loaded_the_screen_says_which_and_since_when(
    session: Session, open_interface: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    base, household = session.snapshot(), session.household.snapshots
    made = household.create(
        base.base_name, base.base_sha256, adapters=(), parent=base.id, run=None, reason="lessons", gate=None
    )
    household.promote(made.id, "enlace", "24 lecciones")
    loaded = asyncio.Event()

    async def slowly(session: Session, why: str, to: str | None = None) -> Snapshot:
        """As an engine does that has a large model to open."""
        await loaded.wait()
        return await go_back(session, why, to)

    monkeypatch.setattr(snapshots_pane, "go_back", slowly)
    async with open_interface() as person:
        await learning(person, "f4")
        person.find("SnapshotList").focus()
        await person.pilot.press("down", "v")
        await person.until(lambda: "◌ Cargo v0 (0 s); mientras tanto responde el de ahora." in person.screen_text())
        loaded.set()
        await person.until(lambda: "Vuelve a responder v0." in person.screen_text())
        assert "Cargo v0" not in person.screen_text()


async def test_a_snapshot_that_cannot_be_served_does_not_become_current(
    session: Session, open_interface: Opener, home: Home
) -> None:
    base, snapshots = session.snapshot(), session.household.snapshots
    for name in ("gone", base.base_name):
        made = snapshots.create(
            name, base.base_sha256, adapters=(), parent=base.id, run=None, reason="lessons", gate=None
        )
    snapshots.promote(made.id, "enlace", "24 lecciones")
    async with open_interface() as person:
        await learning(person, "f4")
        person.find("SnapshotList").focus()
        await person.pilot.press("down", "v")
        await person.until(lambda: "«gone»" in person.screen_text())
        assert snapshots.current().id == made.id


async def test_a_snapshot_that_was_given_up_is_marked_and_cannot_answer_again(
    session: Session, open_interface: Opener
) -> None:
    base, household = session.snapshot(), session.household
    for name in ("one", "two", "three"):
        adapter = Adapter(household.artifacts.put_bytes(name.encode()))
        made = household.snapshots.create(
            base.base_name, base.base_sha256, adapters=[adapter], parent=base.id, run=None, reason="lessons", gate=None
        )
        household.snapshots.promote(made.id, "enlace", "24 lecciones")
    household.pruner.prune(lambda snapshot: (), kept=1)
    async with open_interface() as person:
        await learning(person, "f4")
        person.find("SnapshotList").focus()
        await person.pilot.press("down", "down", "v")
        await person.until(lambda: "Los pesos de v1 se descartaron" in person.screen_text())
        assert "✗ v1" in person.screen_text()
        assert "✗ descartado el" in person.screen_text()
        assert household.snapshots.current().id == made.id
