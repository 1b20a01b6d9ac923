"""The store at another address: whole, never written twice, and what comes back is what was put there."""

from __future__ import annotations

import time
from pathlib import Path

import fsspec
import pytest

from configs.home import Home
from memory.artifacts import ArtifactStore
from memory.errors import ArtifactDamaged, MirrorDamaged, MirrorUnreachable
from memory.mirror import Mirror


@pytest.fixture
def store(home: Home) -> ArtifactStore:
    return ArtifactStore(home, clock=time.time, unfinished_seconds=3600)


@pytest.fixture(params=["folder", "memory://enlace"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A folder, and a place that is none: an object store in this process."""
    if request.param == "folder":
        return str(tmp_path / "mirror")
    fsspec.filesystem("memory").store.clear()
    return str(request.param)


def spoil(home: Home, digest: str) -> None:
    path = home.artifact(digest)
    path.chmod(0o600)
    path.write_bytes(b"weightr")


def test_what_is_lost_or_damaged_here_comes_back(home: Home, store: ArtifactStore, address: str) -> None:
    lost, damaged, kept = (store.put_bytes(content) for content in (b"lost", b"weights", b"kept"))
    mirror = Mirror(home, store, address)
    assert mirror.push([lost, damaged, kept]).copied == (lost, damaged, kept)
    store.remove(lost)
    spoil(home, damaged)
    done = mirror.fetch([lost, damaged, kept])
    assert (done.copied, done.there, done.missing) == ((lost, damaged), (kept,), ())
    assert [store.read_bytes(digest) for digest in (lost, damaged)] == [b"lost", b"weights"]


def test_an_object_that_is_there_is_not_written_again(home: Home, store: ArtifactStore, address: str) -> None:
    digest = store.put_bytes(b"weights")
    mirror = Mirror(home, store, address)
    mirror.push([digest])
    again = mirror.push([digest, store.put_bytes(b"new")])
    assert (again.there, len(again.copied)) == ((digest,), 1)


def test_a_damaged_object_is_not_spread(home: Home, store: ArtifactStore, address: str) -> None:
    digest = store.put_bytes(b"weights")
    spoil(home, digest)
    with pytest.raises(ArtifactDamaged):
        Mirror(home, store, address).push([digest])


def test_what_was_damaged_there_is_not_taken(home: Home, store: ArtifactStore, tmp_path: Path) -> None:
    digest = store.put_bytes(b"weights")
    mirror = Mirror(home, store, str(tmp_path / "mirror"))
    mirror.push([digest])
    (there,) = (path for path in (tmp_path / "mirror").rglob("*") if path.is_file())
    there.chmod(0o600)
    there.write_bytes(b"weightr")
    store.remove(digest)
    with pytest.raises(MirrorDamaged):
        mirror.fetch([digest])
    assert not home.artifact(digest).exists()


def test_what_is_nowhere_is_said_to_be(home: Home, store: ArtifactStore, address: str) -> None:
    digest = store.put_bytes(b"weights")
    store.remove(digest)
    assert Mirror(home, store, address).fetch([digest]).missing == (digest,)


def test_an_address_that_nothing_reaches_is_named(home: Home, store: ArtifactStore, tmp_path: Path) -> None:
    with pytest.raises(MirrorUnreachable) as refused:
        Mirror(home, store, "nowhere://enlace")
    assert refused.value.facts["address"] == "nowhere://enlace"
    (tmp_path / "file").write_text("")
    with pytest.raises(MirrorUnreachable):
        Mirror(home, store, str(tmp_path / "file" / "below")).push([store.put_bytes(b"weights")])
