"""Another base model answers, without what was trained on the one before."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from app.standing import adults_alone

if TYPE_CHECKING:
    from app.session import Session
    from memory.snapshots import Snapshot, Snapshots


def base_of(session: Session, name: str) -> Snapshot:
    """The snapshot in which the model ``name`` answers alone, made if there is none.

    Raises AdultsAlone, ModelMissing and ModelBroken.
    """
    from engine.catalogue import model_path
    from engine.gguf import check_gguf

    adults_alone(session)
    path = model_path(session.home, name)
    check_gguf(path)
    snapshots = session.household.snapshots
    digest = snapshots.file_digest(path)
    own = (s.id for s in snapshots.list() if s.base_sha256 == digest and not s.adapters)
    base = next((found for each in own if (found := _whole(snapshots, each))), None)
    if base is None:
        base = snapshots.create(
            name, digest, adapters=(), parent=None, run=None, reason=f"models use {name}", gate=None
        )
    return base


async def serve_base(session: Session, base: Snapshot) -> Snapshot:
    """Have it answer from the next question on; a running engine serves it first. Raises what ``adopt`` raises."""
    snapshots, who = session.household.snapshots, session.member.name
    return await session.engine.adopt(
        base.digest, lambda: snapshots.promote(base.id, who, f"models use {base.base_name}")
    )


async def use_model(session: Session, name: str) -> Snapshot:
    """Have the model ``name`` answer from the next question on. Raises what ``base_of`` and ``serve_base`` raise."""
    base = await asyncio.to_thread(base_of, session, name)
    return base if base.id == session.snapshot().id else await serve_base(session, base)


def _whole(snapshots: Snapshots, snapshot_id: str) -> Snapshot | None:
    """A snapshot that can answer; None where what it is made of is damaged, gone or given up."""
    from memory.errors import ArtifactDamaged, ArtifactMissing, SnapshotPruned

    try:
        return snapshots.whole(snapshot_id)
    except (ArtifactDamaged, ArtifactMissing, SnapshotPruned):
        return None
