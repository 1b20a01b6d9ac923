"""A snapshot is served only as it was made: its own manifest, adapters and base file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from configs.home import Home
from engine import catalogue
from engine.catalogue import STARTER, list_models, model_path
from engine.errors import EngineError, EngineFailed, ModelMissing, ModelReplaced, SnapshotBroken, error_from_code
from engine.fingerprint import file_sha256
from engine.served import read_served
from tests.engine.snapshots import store, write_adapter, write_manifest


def test_the_starter_is_found_without_importing_its_package(home: Home, starter: Path) -> None:
    assert model_path(home, STARTER) == starter
    assert [model.name for model in list_models(home)] == [STARTER]


def test_a_model_copied_into_the_home_is_found_by_its_name(home: Home) -> None:
    (home.models / "qwen.gguf").write_bytes(b"GGUF")
    assert model_path(home, "qwen") == home.models / "qwen.gguf"
    assert [model.name for model in list_models(home)] == [STARTER, "qwen"]


def test_a_model_that_is_removed_while_the_models_are_listed_is_left_out(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home.models / "qwen.gguf").touch()

    def found_and_removed(home: Home, name: str) -> Path:
        path = model_path(home, name)
        if path.parent == home.models:
            path.unlink()
        return path

    monkeypatch.setattr(catalogue, "model_path", found_and_removed)
    assert [model.name for model in list_models(home)] == [STARTER]


@pytest.mark.parametrize("name", ["none", "../secret", "", "a/b"])
def test_a_model_that_is_not_there_is_told_with_the_place_that_was_looked_at(home: Home, name: str) -> None:
    with pytest.raises(ModelMissing) as caught:
        model_path(home, name)
    assert str(home.models) in str(caught.value.facts["path"])


def test_a_manifest_names_model_and_adapters(home: Home, starter: Path, tmp_path: Path) -> None:
    digest = write_manifest(home, starter, name="v3", adapter=write_adapter(tmp_path / "a.gguf"))
    served = read_served(home, digest)
    assert (served.name, served.model, served.manifest_digest) == ("v3", starter, digest)
    assert served.adapters[0].path.is_file()
    assert served.adapters[0].scale == 1.0


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"format": 2}', json.dumps({"format": 1, "name": "v0"}).encode(), b"\xff\xfe"]
)
def test_a_manifest_of_another_form_is_refused(home: Home, content: bytes) -> None:
    with pytest.raises(SnapshotBroken):
        read_served(home, store(home, content))


def test_a_manifest_or_adapter_that_changed_on_disk_is_refused(home: Home, starter: Path, tmp_path: Path) -> None:
    digest = write_manifest(home, starter, adapter=write_adapter(tmp_path / "a.gguf"))
    adapter = read_served(home, digest).adapters[0].path
    adapter.write_bytes(adapter.read_bytes()[:-1] + b"!")
    with pytest.raises(SnapshotBroken):
        read_served(home, digest)
    home.artifact(digest).write_bytes(home.artifact(digest).read_bytes() + b" ")
    with pytest.raises(SnapshotBroken):
        read_served(home, digest)


def test_adapters_are_not_served_over_a_replaced_base(home: Home, starter: Path, tmp_path: Path) -> None:
    model = home.models / "own.gguf"
    model.write_bytes(b"GGUF one")
    digest = write_manifest(home, model, model="own", adapter=write_adapter(tmp_path / "a.gguf"))
    assert read_served(home, digest).model == model
    model.write_bytes(b"GGUF two, another night")
    with pytest.raises(ModelReplaced):
        read_served(home, digest)


def test_a_remembered_hash_is_not_trusted_after_the_file_changed(home: Home, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"one")
    first = file_sha256(home, path)
    assert file_sha256(home, path) == first
    path.write_bytes(b"other")
    assert file_sha256(home, path) != first
    (home.models / "hashes.json").write_text("{")
    assert file_sha256(home, path) != first


def test_every_error_of_the_engine_crosses_a_process_border_and_comes_back_as_itself() -> None:
    for kind in EngineError.__subclasses__():
        back = error_from_code(kind.code, {"path": "x", "reason": "y"})
        assert type(back) is kind
        assert back.facts == {"path": "x", "reason": "y"}
    assert isinstance(error_from_code("unheard_of", {}), EngineFailed)
