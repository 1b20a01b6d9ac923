"""A trained adapter becomes the current snapshot, and what a running engine serves; or nothing changes."""

from __future__ import annotations

import asyncio
from pathlib import Path

from configs.errors import EnlaceError
from configs.home import Home
from configs.sections.engine import EngineSettings
from engine.client import EngineClient
from memory.household import Household
from memory.manifests import Adapter
from memory.snapshots import Snapshot
from trainer.errors import SwapRefused
from trainer.gate import Verdict
from trainer.run_files import Inputs


def promote(
    home: Home,
    engine: EngineSettings,
    household: Household,
    inputs: Inputs,
    adapter: Path,
    verdict: Verdict,
    who: str,
) -> Snapshot:
    """The new current snapshot. A running engine swaps between two answers; where none runs nothing more is needed.

    Raises SwapRefused when the engine will not serve it, and then the earlier snapshot is current again; what
    the artifact store raises, and then nothing was changed.
    """
    snapshots = household.snapshots
    digest = household.artifacts.put_file(adapter)
    snapshot = snapshots.create(
        inputs.base_name,
        inputs.base_sha256,
        adapters=[Adapter(digest, 1.0)],
        parent=inputs.current,
        run=inputs.run,
        reason="training",
        gate=verdict.as_json(),
    )
    snapshots.promote(snapshot.id, who, f"run {inputs.run}")
    try:
        asyncio.run(_swap(EngineClient(home, engine, lambda: snapshot.digest), snapshot))
    except EnlaceError as error:
        snapshots.rollback("enlace", f"the engine refused {snapshot.id}: {error.code}")
        raise SwapRefused(snapshot=snapshot.id, reason=error.code) from error
    return snapshot


async def _swap(client: EngineClient, snapshot: Snapshot) -> None:
    """Have the running engine serve ``snapshot``, and see that it does. Raises what the engine reports."""
    await client.load(snapshot.digest)
    status = await client.status()
    if status is not None and status.manifest != snapshot.digest:
        raise SwapRefused(snapshot=snapshot.id, reason=status.snapshot)
