"""A trained adapter becomes the current snapshot, and what a running engine serves; or nothing changes."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

from configs.errors import EnlaceError
from configs.home import Home
from configs.sections.engine import EngineSettings
from engine.choice import open_engine
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
    on_record: Callable[[str], object],
) -> Snapshot:
    """The new current snapshot. A running engine serves it first; it is current once that is so.

    ``on_record`` puts on record what became of the run, given the snapshot's id: in the same transaction, so that no
    kill leaves a snapshot that answers and a run that came to nothing, whose lessons would be trained again.

    Raises SwapRefused when it cannot be served, and then the earlier snapshot is current and served still; what
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
    try:
        client = open_engine(home, engine, lambda: snapshots.current().digest, os.environ)
        moved = client.adopt(
            snapshot.digest,
            lambda: snapshots.promote(snapshot.id, who, f"run {inputs.run}", lambda: on_record(snapshot.id)),
        )
        return asyncio.run(moved)
    except EnlaceError as error:
        raise SwapRefused(snapshot=snapshot.id, reason=error.code) from error
