"""The status line says what is so."""

from __future__ import annotations

from app.interface.chat import status
from app.session import Session
from configs.home import Home


async def test_the_model_is_that_of_the_current_snapshot_while_no_engine_runs(home: Home) -> None:
    session = Session({"ENLACE_HOME": str(home.root), "LANG": "es"})
    base, snapshots = session.snapshot(), session.household.snapshots
    other = snapshots.create("other", base.base_sha256, adapters=(), parent=None, run=None, reason="model", gate=None)
    snapshots.promote(other.id, "Ana", "models use other")
    facts = await status.look(session)
    assert (facts.model, facts.snapshot, facts.engine_runs) == ("other", other.id, False)
