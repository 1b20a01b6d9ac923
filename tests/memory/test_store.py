"""Artifacts and snapshots of the weights."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import threading
from pathlib import Path

import pytest

from configs.home import Home
from configs.settings import Settings
from memory.artifacts import ArtifactStore, undisturbed
from memory.errors import ArtifactDamaged, ArtifactMissing, DiskFull, NoSnapshot, NothingToRollBack, SnapshotUnknown
from memory.household import Household
from memory.manifests import Adapter
from memory.snapshots import Snapshots

SHA = "ab" * 32
DAY = 86_400


@pytest.fixture
def store(household: Household) -> ArtifactStore:
    return household.artifacts


@pytest.fixture
def snapshots(household: Household) -> Snapshots:
    household.snapshots.ensure_base("base", SHA)
    return household.snapshots


def trained(snapshots: Snapshots, *adapters: Adapter) -> str:
    parent = snapshots.current().id
    made = snapshots.create(
        "base", SHA, adapters=adapters, parent=parent, run="r0001", reason="night", gate={"kl": 0.1}
    )
    return made.id


def test_an_artifact_is_named_by_its_content_and_cannot_be_changed(
    store: ArtifactStore, home: Home, tmp_path: Path
) -> None:
    (tmp_path / "file").write_bytes(b"weights" * 1000)
    digest = store.put_file(tmp_path / "file")
    assert digest == hashlib.sha256(b"weights" * 1000).hexdigest() == store.put_bytes(b"weights" * 1000)
    assert store.path(digest) == home.artifact(digest)
    assert stat.S_IMODE(store.path(digest).stat().st_mode) == 0o400
    assert store.read_bytes(digest) == b"weights" * 1000
    assert list((home.store / "tmp").iterdir()) == []


def test_a_damaged_artifact_is_never_read_and_is_made_whole_by_storing_it_again(store: ArtifactStore) -> None:
    digest = store.put_bytes(b"whole")
    store.path(digest).chmod(0o600)
    store.path(digest).write_bytes(b"whale")
    with pytest.raises(ArtifactDamaged):
        store.open(digest)
    assert store.put_bytes(b"whole") == digest
    assert store.read_bytes(digest) == b"whole"


@pytest.mark.parametrize("digest", ["", "../../etc/passwd", "0" * 64, "AB" * 32])
def test_an_unknown_digest_is_missing(store: ArtifactStore, digest: str) -> None:
    with pytest.raises(ArtifactMissing):
        store.path(digest)


def test_a_full_disk_leaves_no_artifact(store: ArtifactStore, home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DiskFull):
        store.put_bytes(b"big")
    monkeypatch.undo()
    assert list((home.store / "tmp").iterdir()) == []
    with pytest.raises(ArtifactMissing):
        store.path(hashlib.sha256(b"big").hexdigest())


def test_nothing_is_removed_while_somebody_has_to_find_it_undisturbed(store: ArtifactStore, home: Home) -> None:
    digest = store.put_bytes(b"merged weights")
    removing = threading.Thread(target=store.remove, args=(digest,))
    with undisturbed(home):
        removing.start()
        removing.join(0.3)
        assert removing.is_alive()
        assert store.read_bytes(digest) == b"merged weights"
    removing.join()
    with pytest.raises(ArtifactMissing):
        store.path(digest)
    store.remove(digest)


def test_what_a_dead_writer_left_is_cleaned_away_a_day_later(home: Home, settings: Settings) -> None:
    (home.store / "tmp").mkdir()
    old, new = (home.store / "tmp" / name for name in ("old", "new"))
    for path, age in ((old, DAY + 60), (new, DAY - 60)):
        path.write_bytes(b"half")
        os.utime(path, (1e9 - age, 1e9 - age))
    with Household.open(home, settings.memory, lambda: 1e9):
        assert not old.exists()
        assert new.exists()


def test_a_home_without_snapshots_says_so_and_gets_the_base_once(household: Household) -> None:
    with pytest.raises(NoSnapshot):
        household.snapshots.current()
    base = household.snapshots.ensure_base("base", SHA)
    assert (base.id, base.adapters, base.parent) == ("v0", (), None)
    assert household.snapshots.ensure_base("base", SHA) == base
    assert len(household.snapshots.list()) == 1


def test_the_manifest_says_what_is_served(household: Household, snapshots: Snapshots) -> None:
    adapter = household.artifacts.put_bytes(b"adapter")
    snapshot = snapshots.get(trained(snapshots, Adapter(adapter, 0.5)))
    manifest = json.loads(household.artifacts.read_bytes(snapshot.digest))
    assert manifest | {"created_at": ""} == {
        "format": 1,
        "name": "v1",
        "base": {"name": "base", "sha256": SHA},
        "adapters": [{"sha256": adapter, "scale": 0.5}],
        "run": "r0001",
        "gate": {"kl": 0.1},
        "parent": snapshots.get("v0").digest,
        "created_at": "",
    }


def test_a_snapshot_without_its_adapter_is_not_made(snapshots: Snapshots) -> None:
    with pytest.raises(ArtifactMissing):
        trained(snapshots, Adapter("0" * 64))
    assert [snapshot.id for snapshot in snapshots.list()] == ["v0"]


def test_rolling_back_undoes_one_promotion_after_the_other(snapshots: Snapshots) -> None:
    for _ in range(3):
        snapshots.promote(trained(snapshots), "night", "passed")
    assert snapshots.current().id == "v3"
    assert [snapshots.rollback("Ana", "worse").id for _ in range(3)] == ["v2", "v1", "v0"]
    with pytest.raises(NothingToRollBack):
        snapshots.rollback("Ana", "worse")
    assert snapshots.current().id == "v0"


def test_after_a_rollback_the_next_promotion_is_undone_to_where_it_began(snapshots: Snapshots) -> None:
    snapshots.promote(trained(snapshots), "night", "passed")
    snapshots.rollback("Ana", "worse")
    snapshots.promote(trained(snapshots), "night", "passed")
    assert snapshots.current().id == "v2"
    assert snapshots.rollback("Ana", "worse").id == "v0"


def test_a_rollback_can_go_to_any_snapshot(snapshots: Snapshots) -> None:
    for _ in range(3):
        snapshots.promote(trained(snapshots), "night", "passed")
    assert snapshots.rollback("Ana", "worse", to="v1").id == "v1"
    assert snapshots.rollback("Ana", "worse").id == "v0"
    with pytest.raises(SnapshotUnknown):
        snapshots.rollback("Ana", "worse", to="v9")
    with pytest.raises(NothingToRollBack):
        snapshots.rollback("Ana", "worse", to="v0")
    assert snapshots.rollback("Ana", "better after all", to="v3").id == "v3"
    assert snapshots.rollback("Ana", "not so").id == "v0"


def test_going_forward_again_leaves_the_way_back_as_it_was(snapshots: Snapshots) -> None:
    for _ in range(2):
        snapshots.promote(trained(snapshots), "night", "passed")
    snapshots.rollback("Ana", "worse")
    assert snapshots.rollback("Ana", "better after all", to="v2").id == "v2"
    assert [snapshots.rollback("Ana", "worse").id for _ in range(2)] == ["v1", "v0"]


def test_the_history_says_who_moved_what_and_why(snapshots: Snapshots) -> None:
    snapshots.promote(trained(snapshots), "night", "passed")
    snapshots.promote("v1", "night", "again")
    snapshots.rollback("Ana", "worse")
    moves = [(m.kind, m.previous, m.snapshot, m.who, m.why, m.undone) for m in snapshots.history()]
    assert moves == [
        ("rollback", "v1", "v0", "Ana", "worse", False),
        ("promote", "v0", "v1", "night", "passed", True),
        ("promote", None, "v0", "enlace", "base", False),
    ]


def test_a_snapshot_with_a_damaged_adapter_does_not_become_current(household: Household, snapshots: Snapshots) -> None:
    digest = household.artifacts.put_bytes(b"adapter")
    made = trained(snapshots, Adapter(digest))
    path = household.artifacts.path(digest)
    path.chmod(0o600)
    path.write_bytes(b"adopter")
    with pytest.raises(ArtifactDamaged):
        snapshots.promote(made, "night", "passed")
    assert snapshots.current().id == "v0"


@pytest.mark.parametrize("name", ["", "v", "3", "v-1", "v1x", "v٣", "v" + "9" * 40])
def test_a_name_that_is_no_snapshot_is_unknown(snapshots: Snapshots, name: str) -> None:
    with pytest.raises(SnapshotUnknown):
        snapshots.get(name)


def test_a_model_file_is_hashed_again_only_when_it_changed(snapshots: Snapshots, tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(b"one")
    os.utime(path, ns=(1, 1))
    first = snapshots.file_digest(path)
    assert first == hashlib.sha256(b"one").hexdigest()
    path.write_bytes(b"two")
    os.utime(path, ns=(1, 1))
    assert snapshots.file_digest(path) == first
    os.utime(path, ns=(2, 2))
    assert snapshots.file_digest(path) == hashlib.sha256(b"two").hexdigest()
