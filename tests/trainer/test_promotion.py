"""Promotion with an engine running: it serves the new snapshot, or the old one stays current."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
import torch

from configs.home import Home
from configs.settings import Settings
from engine.client import EngineClient
from memory.errors import DiskFull
from memory.household import Household
from tests.engine.elsewhere.openai_doubles import LlamaServerDouble
from tests.trainer.household import small_settings, teach
from trainer.beginning import begin
from trainer.errors import BaseReplaced, SwapRefused
from trainer.gate import Verdict
from trainer.model.adapter_file import write_gguf
from trainer.model.lora import new_adapter
from trainer.model.reading import BaseWeights
from trainer.promotion import promote
from trainer.run_files import Inputs, RunFiles

SHIP = Verdict("SHIP", (), ())


def nobody(snapshot: str) -> None:
    """Puts nothing on record."""


@pytest.fixture
def small(home: Home) -> Settings:
    settings = small_settings(home)
    teach(home, settings)
    return settings


def begun(home: Home, settings: Settings, household: Household) -> Inputs:
    """A run on record, and what it starts from."""
    run = household.runs.create("lessons")
    (home.runs / run.id).mkdir()
    return begin(home, settings, household, run.id, "family", RunFiles(home.runs / run.id))


def test_a_running_engine_serves_what_was_promoted(
    home: Home, small: Settings, base: BaseWeights, tmp_path: Path
) -> None:
    adapter = new_adapter(base.config, 4, 8.0, torch.Generator().manual_seed(0))
    for key, b in adapter.b.items():
        adapter.b[key] = torch.full_like(b, 0.01)
    write_gguf(adapter, base.config, tmp_path / "adapter.gguf")
    with Household.open(home, small.memory) as household:
        inputs = begun(home, small, household)
        client = EngineClient(home, small.engine, lambda: household.snapshots.current().digest)
        asyncio.run(client.start())
        made = promote(home, small.engine, household, inputs, tmp_path / "adapter.gguf", SHIP, "Ana", nobody)
        assert household.snapshots.current().id == made.id == "v1"
        status = asyncio.run(client.status())
        assert status is not None
        assert status.manifest == made.digest


def test_an_adapter_that_the_engine_refuses_leaves_the_old_snapshot_current(
    home: Home, small: Settings, tmp_path: Path
) -> None:
    (tmp_path / "adapter.gguf").write_bytes(b"no adapter at all")
    with Household.open(home, small.memory) as household:
        inputs = begun(home, small, household)
        client = EngineClient(home, small.engine, lambda: household.snapshots.current().digest)
        before = asyncio.run(client.start())
        with pytest.raises(SwapRefused):
            promote(home, small.engine, household, inputs, tmp_path / "adapter.gguf", SHIP, "Ana", nobody)
        assert household.snapshots.current().id == "v0"
        assert [move.snapshot for move in household.snapshots.history()] == ["v0"]
        after = asyncio.run(client.status())
        assert after is not None
        assert after.manifest == before.manifest


def test_a_snapshot_answers_and_its_run_is_on_record_in_the_same_moment(
    home: Home, small: Settings, base: BaseWeights, tmp_path: Path
) -> None:
    adapter = tmp_path / "adapter.gguf"
    write_gguf(new_adapter(base.config, 4, 8.0, torch.Generator().manual_seed(0)), base.config, adapter)
    with Household.open(home, small.memory) as household:
        inputs = begun(home, small, household)

        def cut_off(snapshot: str) -> None:
            household.runs.finish(inputs.run, "shipped", snapshot=snapshot)
            raise DiskFull(path=str(home.family_db))

        with pytest.raises(SwapRefused):
            promote(home, small.engine, household, inputs, adapter, SHIP, "Ana", cut_off)
        assert household.snapshots.current().id == "v0"
        assert household.runs.get(inputs.run).state == "running"


def test_another_server_that_lacks_the_adapter_leaves_the_old_snapshot_current(
    home: Home, small: Settings, base: BaseWeights, tmp_path: Path
) -> None:
    write_gguf(
        new_adapter(base.config, 4, 8.0, torch.Generator().manual_seed(0)), base.config, tmp_path / "adapter.gguf"
    )
    double = LlamaServerDouble()
    with double.in_a_thread(), Household.open(home, small.memory) as household:
        inputs = begun(home, small, household)
        server = small.engine.server.model_copy(update={"kind": "llama-server", "url": double.url})
        elsewhere = small.engine.model_copy(update={"server": server})
        with pytest.raises(SwapRefused) as caught:
            promote(home, elsewhere, household, inputs, tmp_path / "adapter.gguf", SHIP, "Ana", nobody)
        assert caught.value.facts["reason"] == "server_adapter_missing"
        assert household.snapshots.current().id == "v0"
    assert not home.engine_lock.exists()


def test_a_base_that_was_replaced_is_not_trained_on(home: Home, starter: Path, small: Settings) -> None:
    local = home.models / "smollm2-135m.gguf"
    local.write_bytes(starter.read_bytes())
    with Household.open(home, small.memory) as household:
        inputs = begun(home, small, household)
        local.write_bytes(starter.read_bytes()[:-1] + b"\0")
        with pytest.raises(BaseReplaced) as caught:
            begin(home, small, household, inputs.run, "family", RunFiles(home.runs / inputs.run))
        assert caught.value.facts["path"] == str(local)
