"""An engine outlives the program that started it, and after an upgrade the new version answers."""

from __future__ import annotations

import asyncio
import json
import os
from importlib.metadata import version
from pathlib import Path

import pytest

from engine import crashes
from engine.answers import Finished
from engine.errors import EngineOfOtherVersion
from engine.starting import LOG, start_engine
from tests.engine.conftest import PATIENCE, PATIENT, Break, House, ask
from tests.engine.test_server import FRANCE, STORY, answer


def install(folder: Path, number: str) -> None:
    """Have this version in ``folder``, as an installer leaves it."""
    packaged = folder / "enlace-0.dist-info"
    packaged.mkdir(exist_ok=True)
    aside = packaged / "aside"
    aside.write_text(f"Metadata-Version: 2.1\nName: enlace\nVersion: {number}\n")
    aside.replace(packaged / "METADATA")


async def test_an_engine_makes_room_once_another_version_is_installed_and_writes_its_answer_to_the_end(
    hasty: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hasty.home.config_file.write_text(PATIENT)
    install(tmp_path, "0.0.8")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}")
    first = await hasty.client.start()
    assert first.version == "0.0.8"
    stream = hasty.client.chat(ask(STORY), hasty.sampling(60))
    await anext(stream)
    install(tmp_path, "0.0.9")
    last = [piece async for piece in stream][-1]
    assert isinstance(last, Finished)
    async with asyncio.timeout(PATIENCE):
        while (second := await hasty.client.start()).pid == first.pid:
            await asyncio.sleep(0.02)
    assert second.version == "0.0.9"
    assert (await answer(hasty, ask(FRANCE)))[0] == "The capital of France is Paris."
    lines = [json.loads(line) for line in (hasty.home.logs / LOG).read_text().splitlines()]
    assert [line["pid"] for line in lines if line["event"] == "another_version_installed"] == [first.pid]
    assert crashes.reports(hasty.home) == []


async def test_what_an_engine_says_of_itself_beyond_what_is_known_is_passed_over(hasty: House, broken: Break) -> None:
    broken("tells more")
    status = await hasty.client.start()
    assert (status.version, status.snapshot) == ("later", "v0")


async def test_an_engine_that_cannot_be_understood_is_told_and_a_start_is_of_this_version(
    hasty: House, broken: Break
) -> None:
    broken("tells less")
    await asyncio.get_running_loop().run_in_executor(None, start_engine, hasty.home, hasty.settings, hasty.digest)
    with pytest.raises(EngineOfOtherVersion) as caught:
        await hasty.client.status()
    assert caught.value.facts == {"version": version("enlace")}
    assert (await hasty.client.start()).version == version("enlace")
