"""How an engine is started: one process for a household, and a clear sentence where it cannot be."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from configs.detached import start_detached
from configs.home import Home
from configs.sections.engine import EngineSettings
from engine.client import EngineClient
from engine.errors import EngineStartFailed, SnapshotBroken
from engine.starting import STDERR, is_locked
from tests.engine.conftest import CONFIG, House
from tests.engine.snapshots import write_manifest


async def test_clients_at_once_get_one_engine_and_start_one_process(
    own: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A household that asks again after a crash shall not be slowed by a process for each of them."""
    begun: list[list[str]] = []

    def start_and_count(command: list[str], **options: Any) -> subprocess.Popen[bytes]:
        begun.append(command)
        return start_detached(command, **options)

    monkeypatch.setattr("engine.starting.start_detached", start_and_count)
    clients = [EngineClient(own.home, own.settings, lambda: own.digest) for _ in range(8)]
    started = await asyncio.gather(*(client.start() for client in clients))
    assert len({status.pid for status in started}) == len(engines_of(own.home)) == 1
    assert len(begun) == 1


async def test_clients_at_once_are_all_told_what_keeps_the_engine_from_starting(own: House) -> None:
    clients = [EngineClient(own.home, own.settings, lambda: "0" * 64) for _ in range(4)]
    told = await asyncio.gather(*(client.start() for client in clients), return_exceptions=True)
    assert {type(error) for error in told} == {SnapshotBroken}
    assert not is_locked(own.home)


async def test_an_engine_that_dies_at_its_start_says_why(
    own: House, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho the library is gone >&2\nexit 3\n")
    broken.chmod(0o755)
    with monkeypatch.context() as patch:
        patch.setattr(sys, "executable", str(broken))
        with pytest.raises(EngineStartFailed) as caught:
            await own.client.start()
    assert caught.value.facts["reason"] == "the library is gone"
    # The next start does not wipe away why the one before it failed.
    await own.client.start()
    assert "the library is gone" in (own.home.logs / STDERR).read_text()


async def test_an_engine_killed_while_it_starts_is_started_once_more(
    own: House, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fragile, been = tmp_path / "python", tmp_path / "been"
    fragile.write_text(f'#!/bin/sh\n[ -e {been} ] && exec {sys.executable} "$@"\ntouch {been}\nkill -9 $$\n')
    fragile.chmod(0o755)
    with monkeypatch.context() as patch:
        patch.setattr(sys, "executable", str(fragile))
        assert (await own.client.start()).snapshot == "v0"


async def test_an_engine_that_does_not_answer_in_time_is_given_up(
    own: House, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    silent = tmp_path / "python"
    silent.write_text("#!/bin/sh\nexec sleep 60\n")
    silent.chmod(0o755)
    hasty = EngineClient(own.home, own.settings.model_copy(update={"start_timeout_s": 0.3}), lambda: own.digest)
    with monkeypatch.context() as patch:
        patch.setattr(sys, "executable", str(silent))
        with pytest.raises(EngineStartFailed):
            await hasty.start()


async def test_a_long_home_path_gets_a_socket_all_the_same(
    tmp_path: Path, engine_settings: EngineSettings, starter: Path
) -> None:
    home = Home(tmp_path / ("deep" * 20) / ("deeper" * 10))
    home.prepare()
    home.config_file.write_text(CONFIG)
    client = EngineClient(home, engine_settings, lambda: write_manifest(home, starter))
    try:
        assert (await client.start()).snapshot == "v0"
    finally:
        await client.stop()


def engines_of(home: Home) -> list[psutil.Process]:
    """The living engine processes of ``home``."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        try:
            if "serve" in (process.info["cmdline"] or []) and process.environ().get("ENLACE_HOME") == str(home.root):
                found.append(process)
        except psutil.Error:
            continue
    return found
