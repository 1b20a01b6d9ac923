"""llama.cpp's own server, not a double of it: an exported snapshot is served, swapped, refused, stopped and killed.

Runs where ``ENLACE_PEERS`` names a folder with the environment ``xllamacpp`` (benchmarks/peers).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.answers import Delta
from engine.elsewhere.client import ServerClient
from engine.elsewhere.compose import Need, llama_arguments
from engine.elsewhere.errors import ServerAdapterMissing, ServerBrokeOff, ServerUnreachable
from engine.elsewhere.exporting import export_snapshot
from engine.elsewhere.fields import openai_fields
from engine.errors import PromptTooLong
from engine.messages import PLAIN
from tests.engine.conftest import ask
from tests.engine.elsewhere.conftest import Guest, answer

# The fixtures clear the environment; this is read before.
PYTHON = Path(os.environ.get("ENLACE_PEERS", "/nowhere")) / "xllamacpp" / "bin" / "python"
SCRIPT = Path(__file__).with_name("real_llama_server.py")
FRANCE = "What is the capital of France?"
SCALES = {"v0": [0.0, 0.0], "v1": [0.0, 1.0], "v2": [1.0, 0.0]}

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(not PYTHON.exists(), reason="ENLACE_PEERS names no folder with the environment xllamacpp"),
]


@contextlib.contextmanager
def real(arguments: list[str]) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The server's address and its process."""
    process = subprocess.Popen(
        [str(PYTHON), str(SCRIPT), *arguments],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        address = process.stdout.readline().strip()
        assert address.startswith("http")
        yield address, process
    finally:
        process.stdin.close()
        process.kill()
        process.wait()
        process.stdout.close()


def arguments(guest: Guest, tmp_path: Path, *names: str) -> list[str]:
    """The options that the export of the last of these snapshots says, and the others' adapters."""
    made = export_snapshot(
        guest.home, guest.settings("own", ""), guest.snapshots[names[-1]], tmp_path / "out", system="",
        explain=lambda made: made.snapshot,
    )  # fmt: skip
    need = Need(0, 0, 0, context_size=1024, slots=1)
    others = [value for name in names[:-1] for value in ("--lora", str(guest.adapters[name]))]
    return [*llama_arguments(made.model, made.adapters, need, str(tmp_path / "out")), *others]


def patient(guest: Guest, address: str) -> ServerClient:
    """A client that has the patience of a busy machine."""
    settings = guest.settings("llama-server", address, status_timeout_s=30)
    settings = settings.model_copy(update={"request_timeout_s": 120.0})
    return ServerClient(guest.home, settings, lambda: guest.snapshots[guest.current], {}, guest.waits)


async def read_anew(client: ServerClient, guest: Guest, scales: list[float]) -> str:
    """What the server says with these scales when it reads the whole prompt: no cache, no client of ours in between."""
    sampling = guest.sampling()
    body = openai_fields(ask(FRANCE), sampling, PLAIN) | {
        "top_k": sampling.top_k,
        "repeat_penalty": sampling.repeat_penalty,
        "repeat_last_n": sampling.repeat_window,
        "lora": [{"id": number, "scale": scale} for number, scale in enumerate(scales)],
        "cache_prompt": False,
    }
    reply = await client._line.ask("POST", "/v1/chat/completions", body)
    return str(reply["choices"][0]["message"]["content"])


async def until(
    number: int, client: ServerClient, guest: Guest, said: list[str], process: subprocess.Popen[str]
) -> None:
    """The words of a long answer, whose server is killed after some of them."""
    async for piece in client.chat(ask("Write a very long story about the sea."), guest.sampling(900)):
        said += [piece.text] if isinstance(piece, Delta) else []
        if len(said) == number:
            process.kill()


async def test_snapshots_are_served_swapped_and_refused_and_no_answer_rests_on_another_one(
    guest: Guest, tmp_path: Path
) -> None:
    for name, seed in (("v1", 1), ("v2", 3), ("v3", 5)):
        guest.add(name, seed=seed)
    with real(arguments(guest, tmp_path, "v1", "v2")) as (address, _):
        client = patient(guest, address)
        # It was started with adapters at full strength: by itself it answers otherwise than v0.
        assert (await client.status()).snapshot is None
        # The export's adapter, v2's, is the first of the server's, and the store's, v1's, the second.
        said = {name: await read_anew(client, guest, scales) for name, scales in SCALES.items()}
        assert "Paris" in said["v0"]
        assert len(set(said.values())) == 3
        # Whatever the server still holds of what it read for another snapshot, the answers are what they are.
        for name in ("v0", "v1", "v2", "v1", "v0"):
            await guest.adopt(client, name)
            written, finished = await answer(client, guest, FRANCE)
            assert (written, finished.usage.snapshot) == (said[name], name)
            status = await client.status()
            assert (status.snapshot, status.base, status.context_size) == (name, "same", 1024)
        with pytest.raises(ServerAdapterMissing):
            await guest.adopt(client, "v3")
        assert guest.current == "v0"
        assert (await answer(client, guest, FRANCE))[0] == said["v0"]


async def test_long_prompts_are_told_stopped_answers_free_the_slot_and_a_killed_server_is_told(
    guest: Guest, tmp_path: Path
) -> None:
    with real(arguments(guest, tmp_path, "v0")) as (address, process):
        client = patient(guest, address)
        with pytest.raises(PromptTooLong) as caught:
            await answer(client, guest, "word " * 3000)
        assert caught.value.facts["context_size"] == 1024
        assert int(caught.value.facts["prompt_tokens"]) > 3000
        stream = client.chat(ask("Write a very long story about the sea."), guest.sampling(900))
        await anext(stream)
        await stream.aclose()
        for _ in range(300):
            if (await client.status()).busy == 0:
                break
            await asyncio.sleep(0.1)
        assert (await client.status()).busy == 0
        assert "Paris" in (await answer(client, guest, FRANCE))[0]
        said: list[str] = []
        with pytest.raises(ServerBrokeOff):
            await until(3, client, guest, said, process)
        assert len(said) >= 3
        with pytest.raises(ServerUnreachable):
            await answer(client, guest, FRANCE)
        assert not (await client.status()).reachable


async def test_tokens_and_token_worth_come_from_the_real_server_as_from_the_double(
    guest: Guest, tmp_path: Path
) -> None:
    with real(arguments(guest, tmp_path, "v0")) as (address, _):
        client = patient(guest, address)
        assert await client.tokenize("Hello there") == await client.tokenize("Hello there")
        talk = await client.tokenize(ask("Hello there"))
        assert len(talk) > len(await client.tokenize("Hello there"))
