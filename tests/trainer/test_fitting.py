"""A snapshot is fitted to the form in which its model is served: in the background, and without anybody waiting."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import yaml

from configs.home import Home
from configs.settings import Settings, load_settings
from engine.answers import Delta, EngineStatus, Finished, Sampling
from engine.catalogue import STARTER
from engine.client import EngineClient
from engine.forms.records import AdaptedRecord, adapters_key, folder, read_adapted, write_adapted
from engine.messages import Message
from engine.served import read_served
from memory.household import Household
from memory.manifests import Adapter
from memory.snapshots import Snapshot
from tests.engine.forms.conftest import bench_of, measured_before, stopwatch
from tests.engine.forms.conftest import quick as small_bench
from tests.engine.snapshots import write_adapter
from tests.project import ROOT
from tests.trainer.household import wait_for
from trainer.fitting.fit import Fitter
from trainer.fitting.merging import merge

STORY = [Message("system", "You are a helpful assistant."), Message("user", "Write a long story about the sea.")]
# Measurements of a moment; and slower merged weights are taken too, since a busy machine's speeds tell nothing.
QUICK: dict[str, Any] = {
    "engine": {
        "context_size": 512,
        "slots": 2,
        "threads": 1,
        "form": {
            "rounds": 1,
            "read_tokens": 16,
            "written_tokens": 4,
            "loss_tokens": 16,
            "steady_tokens": 16,
            "merged_least_gain": -0.99,
        },
    },
    "training": {"idle_priority": False},
}


def quick(home: Home, **form: Any) -> Settings:
    """Write the quick settings into the home's config.yaml; the settings as they then are."""
    engine = {**QUICK["engine"], "form": {**QUICK["engine"]["form"], **form}}
    home.config_file.write_text(yaml.safe_dump({**QUICK, "engine": engine}), encoding="utf-8")
    return load_settings(home, {})


def promoted(household: Household, starter: Path, tmp_path: Path, *, seed: int = 0) -> Snapshot:
    """A new current snapshot with a small adapter that changes what is said a little."""
    snapshots = household.snapshots
    digest = snapshots.file_digest(starter)
    parent = snapshots.ensure_base(STARTER, digest)
    adapter = write_adapter(tmp_path / f"{seed}.gguf", strength=0.01, seed=seed)
    stored = household.artifacts.put_file(adapter)
    made = snapshots.create(
        STARTER, digest, adapters=[Adapter(stored, 1.0)], parent=parent.id, run=None, reason="training", gate=None
    )
    return snapshots.promote(made.id, "Ana", "a test")


def key_of(snapshot: Snapshot) -> str:
    return adapters_key([(each.sha256, each.scale) for each in snapshot.adapters])


def test_a_promoted_snapshot_is_merged_and_stays_the_same_snapshot(home: Home, starter: Path, tmp_path: Path) -> None:
    settings = quick(home)
    with Household.open(home, settings.memory) as household:
        snapshot = promoted(household, starter, tmp_path)
        record = Fitter(home, settings, household, time.time).run()
        assert record is not None
        assert (record.why, record.overlay) == ("", True)
        assert record.merged is not None
        assert record.merged_loss is not None
        assert record.merged_loss < settings.engine.form.most_adapter_loss
        served = read_served(home, snapshot.digest)
        assert (served.name, served.manifest_digest, served.merged) == (snapshot.id, snapshot.digest, True)
        assert (served.model, served.adapters) == (home.artifact(record.merged), ())
        # A second fitting finds that nothing is left to do.
        assert Fitter(home, settings, household, time.time).run() == record
        # The way back is what it was.
        assert household.snapshots.rollback("Ana", "a test").id == "v0"
    assert [path.name for path in folder(home, snapshot.base_sha256).glob("fit-*")] == []


def test_merged_weights_that_lose_too_much_are_not_served(home: Home, starter: Path, tmp_path: Path) -> None:
    settings = quick(home, most_adapter_loss=0.0)
    with Household.open(home, settings.memory) as household:
        snapshot = promoted(household, starter, tmp_path)
        record = Fitter(home, settings, household, time.time).run()
        assert record is not None
        assert (record.merged, record.why) == (None, "loses_too_much")
        served = read_served(home, snapshot.digest)
        assert (served.model, served.merged, len(served.adapters)) == (starter, False, 1)


def test_adapters_go_over_a_form_only_where_they_were_measured_to_lose_little(
    home: Home, starter: Path, tmp_path: Path
) -> None:
    settings = quick(home, merge=False)
    told = stopwatch(measured_before, q8_0=150)
    form = bench_of(home, small_bench(home), starter, told).run(dry=False).record
    with Household.open(home, settings.memory) as household:
        snapshot = promoted(household, starter, tmp_path)
        assert read_served(home, snapshot.digest).model == starter
        record = Fitter(home, settings, household, time.time).run()
    assert record is not None
    assert record.form == form.sha256
    assert record.overlay_loss is not None
    assert 0 < record.overlay_loss < settings.engine.form.most_adapter_loss
    served = read_served(home, snapshot.digest)
    assert (served.model.name, len(served.adapters), served.merged) == (form.file, 1, False)
    write_adapted(home, snapshot.base_sha256, key_of(snapshot), dataclasses.replace(record, overlay=False))
    assert read_served(home, snapshot.digest).model == starter


def test_a_fitting_that_is_killed_leaves_the_adapters_over_the_weights(
    home: Home, starter: Path, tmp_path: Path
) -> None:
    settings = quick(home)
    with Household.open(home, settings.memory) as household:
        snapshot = promoted(household, starter, tmp_path)
    process = subprocess.Popen([sys.executable, "-m", "trainer", "fit", "--home", str(home.root)], cwd=ROOT)
    place = folder(home, snapshot.base_sha256)
    wait_for(lambda: any(place.glob("fit-*/reference.f32")))
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert read_adapted(home, snapshot.base_sha256, key_of(snapshot)) is None
    assert len(read_served(home, snapshot.digest).adapters) == 1
    with Household.open(home, settings.memory) as household:
        record = Fitter(home, quick(home, merge=False), household, time.time).run()
    assert record is not None
    assert record.merged is None
    assert list(place.glob("fit-*")) == []


def test_only_the_newest_merged_weights_are_kept(home: Home, starter: Path, tmp_path: Path) -> None:
    settings = quick(home, merge=False, merged_kept=1)
    with Household.open(home, settings.memory) as household:
        first = promoted(household, starter, tmp_path, seed=1)
        record = Fitter(home, settings, household, time.time).run()
        assert record is not None
        merged = household.artifacts.put_bytes(b"as if they were weights")
        write_adapted(home, first.base_sha256, key_of(first), dataclasses.replace(record, merged=merged))
        promoted(household, starter, tmp_path, seed=2)
        Fitter(home, settings, household, time.time).run()
        assert not home.artifact(merged).exists()
        left = read_adapted(home, first.base_sha256, key_of(first))
        assert left is not None
        assert (left.merged, left.why) == (None, "pruned")
        assert len(read_served(home, first.digest).adapters) == 1


def test_an_answer_that_is_being_written_when_the_weights_are_swapped_is_written_to_its_end(
    home: Home, starter: Path, tmp_path: Path
) -> None:
    settings = quick(home, merge=False)
    with Household.open(home, settings.memory) as household:
        snapshot = promoted(household, starter, tmp_path)
        record = Fitter(home, settings, household, time.time).run()
        assert record is not None
        adapters = [(household.artifacts.path(each.sha256), each.scale) for each in snapshot.adapters]
        merge(starter, starter, adapters, tmp_path / "merged.gguf", "q8_0")
        merged = household.artifacts.put_file(tmp_path / "merged.gguf")
        fitted = dataclasses.replace(record, merged=merged)
        asyncio.run(_swapped_meanwhile(home, settings, household, snapshot, fitted))


async def _swapped_meanwhile(
    home: Home, settings: Settings, household: Household, snapshot: Snapshot, fitted: AdaptedRecord
) -> None:
    client = EngineClient(home, settings.engine, lambda: household.snapshots.current().digest)
    before = await client.start()
    assert isinstance(before, EngineStatus)
    assert not before.merged
    pieces = client.chat(STORY, Sampling(0, 40, 0.95, 0.0, 1.0, 64, 100))
    assert isinstance(await anext(pieces), Delta)
    write_adapted(home, snapshot.base_sha256, key_of(snapshot), fitted)
    swapping = asyncio.create_task(client.load(snapshot.digest))
    *_, ended = [piece async for piece in pieces]
    assert isinstance(ended, Finished)
    assert (ended.reason, ended.usage.snapshot) == ("length", snapshot.id)
    await swapping
    after = await client.status()
    assert isinstance(after, EngineStatus)
    assert (after.merged, after.snapshot, after.manifest, after.pid) == (True, snapshot.id, snapshot.digest, before.pid)
    *_, ended = [piece async for piece in client.chat(STORY, Sampling(0, 40, 0.95, 0.0, 1.0, 64, 4))]
    assert isinstance(ended, Finished)
    assert ended.usage.snapshot == snapshot.id
