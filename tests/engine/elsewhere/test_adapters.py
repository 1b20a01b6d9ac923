"""What was learned is served by other people's servers through their own interfaces, or the old one stays."""

from __future__ import annotations

import hashlib
import json

import pytest

from engine.elsewhere.errors import (
    ServerAdapterIdle,
    ServerAdapterMissing,
    ServerAdapterRefused,
    ServerModelMissing,
    ServerModelOther,
    ServerTakesNoAdapters,
)
from engine.errors import EngineError, ModelReplaced
from tests.engine.elsewhere.conftest import Guest, answer
from tests.engine.elsewhere.doubles import always, refusal
from tests.engine.elsewhere.ollama_double import Made, OllamaDouble
from tests.engine.elsewhere.openai_doubles import LlamaServerDouble, VLLMDouble


def stored(guest: Guest, name: str) -> str:
    """Where the store has the adapter of a snapshot."""
    digest = hashlib.sha256(guest.adapters[name].read_bytes()).hexdigest()
    return str(guest.home.artifact(digest))


async def refused(guest: Guest, client: object, name: str, error: type[EngineError]) -> EngineError:
    """The error with which a snapshot is refused; the one before is current still and answers."""
    before = guest.current
    with pytest.raises(error) as caught:
        await guest.adopt(client, name)  # type: ignore[arg-type]
    assert guest.current == before
    _, finished = await answer(client, guest)  # type: ignore[arg-type]
    assert finished.usage.snapshot != name
    return caught.value


async def test_llama_server_is_asked_for_the_snapshots_scales_with_every_answer(guest: Guest) -> None:
    guest.add("v1", seed=1)
    guest.add("v2", seed=2)
    renamed = f"/srv/adapters/enlace-{hashlib.sha256(guest.adapters['v2'].read_bytes()).hexdigest()[:12]}.gguf"
    double = LlamaServerDouble(adapters=("/srv/other.gguf", stored(guest, "v1"), renamed))
    async with double.running():
        client = guest.client("llama-server", double)
        for name, scales in (("v1", [0, 1, 0]), ("v2", [0, 0, 1]), ("v0", [0, 0, 0])):
            await guest.adopt(client, name)
            assert [each["scale"] for each in double.adapters] == scales
            await answer(client, guest)
            body = double.last("/v1/chat/completions").json
            assert [each["scale"] for each in body["lora"]] == scales
            assert body["cache_prompt"] is False
            status = await client.status()
            assert status.snapshot == (name if name != "v0" else None)


async def test_llama_server_without_adapters_reuses_what_it_has_read(guest: Guest) -> None:
    async with (double := LlamaServerDouble()).running():
        await answer(guest.client("llama-server", double), guest)
        body = double.last("/v1/chat/completions").json
    assert body["cache_prompt"] is True
    assert "lora" not in body


async def test_llama_server_without_the_adapter_is_told_how_to_be_started(guest: Guest) -> None:
    guest.add("v1", seed=1)
    async with (double := LlamaServerDouble(adapters=("/srv/other.gguf",))).running():
        error = await refused(guest, guest.client("llama-server", double), "v1", ServerAdapterMissing)
    assert error.facts["path"] == stored(guest, "v1")


async def test_llama_server_with_another_model_takes_nothing_learned(guest: Guest) -> None:
    guest.add("v1", seed=1)
    other = guest.folder / "other.gguf"
    other.write_bytes(b"GGUF, but another one")
    async with (double := LlamaServerDouble(str(other), (stored(guest, "v1"),))).running():
        client = guest.client("llama-server", double)
        await refused(guest, client, "v1", ServerModelOther)
        assert (await client.status()).base == "other"


async def test_the_starters_own_file_on_llama_server_is_known_to_be_the_snapshots_model(guest: Guest) -> None:
    async with (double := LlamaServerDouble(str(guest.starter))).running():
        client = guest.client("llama-server", double)
        status = await client.status()
        assert (status.base, status.snapshot, status.busy, status.slots) == ("same", "v0", 1, 2)
        _, finished = await answer(client, guest)
    assert finished.usage.snapshot == "v0"


async def test_a_server_whose_model_is_not_known_is_not_said_to_answer_as_the_snapshot(guest: Guest) -> None:
    async with (double := LlamaServerDouble()).running():
        client = guest.client("llama-server", double)
        status = await client.status()
        assert (status.base, status.snapshot, status.model) == (None, None, "model.gguf")
        _, finished = await answer(client, guest)
    assert finished.usage.snapshot == "model.gguf"


@pytest.mark.parametrize("kind", ["llama-server", "vllm"])
async def test_an_adapter_that_changes_nothing_is_refused(guest: Guest, kind: str) -> None:
    guest.add("v1", seed=1)
    double = LlamaServerDouble(adapters=(stored(guest, "v1"),)) if kind == "llama-server" else VLLMDouble()
    double.idle = True
    async with double.running():
        await refused(guest, guest.client(kind, double), "v1", ServerAdapterIdle)
        if isinstance(double, VLLMDouble):
            assert double.loaded == {}
        else:
            assert [each["scale"] for each in double.adapters] == [0]


async def test_vllm_loads_the_snapshot_as_a_folder_and_is_asked_for_it_by_name(guest: Guest) -> None:
    for number in (1, 2, 3):
        guest.add(f"v{number}", seed=number)
    async with (double := VLLMDouble()).running():
        client = guest.client("vllm", double)
        await answer(client, guest)
        assert double.last("/v1/chat/completions").json["model"] == double.model
        for name in ("v1", "v2", "v3"):
            await guest.adopt(client, name)
            _, finished = await answer(client, guest)
            assert finished.usage.snapshot == name
            assert double.last("/v1/chat/completions").json["model"].startswith(f"enlace-{name}-")
            assert (await client.status()).snapshot == name
        # The one before may be in use; older ones have gone.
        assert [name.split("-")[1] for name in double.loaded] == ["v2", "v3"]
        double.loaded.clear()
        await answer(client, guest)
        assert [name.split("-")[1] for name in double.loaded] == ["v3"]


async def test_vllm_sees_the_folder_by_the_path_that_the_settings_say(guest: Guest) -> None:
    guest.add("v1", seed=1)
    async with (double := VLLMDouble()).running():
        shared = {"adapters_folder": str(guest.folder / "shared"), "adapters_folder_there": "/adapters"}
        await refused(guest, guest.client("vllm", double, **shared), "v1", ServerAdapterRefused)
        asked = double.last("/v1/load_lora_adapter").json
    assert asked["lora_path"] == f"/adapters/{asked['lora_name']}"
    assert json.loads((guest.folder / "shared" / asked["lora_name"] / "adapter_config.json").read_text())["r"] == 4


async def test_vllm_that_refuses_says_why_and_the_old_snapshot_stays(guest: Guest) -> None:
    guest.add("v1", seed=1)
    async with (double := VLLMDouble()).running():
        client = guest.client("vllm", double)
        double.updating = False
        error = await refused(guest, client, "v1", ServerTakesNoAdapters)
        assert "VLLM_ALLOW_RUNTIME_LORA_UPDATING" in str(error.facts["reason"])
        double.updating, double.largest_rank = True, 2
        error = await refused(guest, client, "v1", ServerAdapterRefused)
        assert "max_lora_rank" in str(error.facts["reason"])
        double.largest_rank = 16
        await guest.adopt(client, "v1")


async def test_vllm_without_the_model_that_the_settings_name_says_what_it_has(guest: Guest) -> None:
    async with (double := VLLMDouble()).running():
        with pytest.raises(ServerModelMissing) as caught:
            await answer(guest.client("vllm", double, model="other/model"), guest)
    assert caught.value.facts["model"] == "other/model"
    assert double.model in str(caught.value.facts["served"])


async def test_a_prompt_that_fits_vllm_is_answered_also_where_the_longest_answer_would_not(guest: Guest) -> None:
    async with (double := VLLMDouble()).running():
        double.context_size = 64
        said, _ = await answer(guest.client("vllm", double), guest, "x" * 200)
        bodies = [asked.json for asked in double.asked if asked.target == "/v1/chat/completions"]
    assert said
    assert bodies[0]["max_tokens"] > bodies[1]["max_tokens"] > 0


async def test_ollama_makes_a_model_of_the_households_own_files_and_copies_each_once(guest: Guest) -> None:
    guest.add("v1", seed=1)
    guest.add("v2", seed=2)
    async with (double := OllamaDouble()).running():
        client = guest.client("ollama", double)
        await answer(client, guest)
        for name in ("v1", "v2"):
            await guest.adopt(client, name)
            _, finished = await answer(client, guest)
            assert finished.usage.snapshot == name
            made = double.models[double.last("/api/chat").json["model"]].request
            adapter = hashlib.sha256(guest.adapters[name].read_bytes()).hexdigest()
            assert list(made["adapters"].values()) == [f"sha256:{adapter}"]
            assert made["template"].startswith("{{- range .Messages }}")
            assert made["parameters"]["num_ctx"] == 1024
            assert made["parameters"]["stop"] == ["<|im_end|>"]
            assert (await client.status()).snapshot == name
        uploads = [asked.target for asked in double.asked if asked.method == "POST" and "/blobs/" in asked.target]
        assert len(uploads) == len(set(uploads)) == 3
        assert [name.split(":")[1].split("-")[0] for name in double.models] == ["v1", "v2"]


async def test_an_ollama_that_takes_no_adapters_keeps_the_old_snapshot(guest: Guest) -> None:
    guest.add("v1", seed=1)
    async with (double := OllamaDouble()).running():
        double.takes_adapters = False
        error = await refused(guest, guest.client("ollama", double), "v1", ServerTakesNoAdapters)
    assert "no longer supported" in str(error.facts["reason"])


async def test_ollamas_other_model_takes_nothing_learned_and_is_told_apart_by_its_digest(guest: Guest) -> None:
    guest.add("v1", seed=1)
    base = hashlib.sha256(guest.starter.read_bytes()).hexdigest()
    async with (double := OllamaDouble("qwen3:latest")).running():
        client = guest.client("ollama", double, model="qwen3")
        await refused(guest, client, "v1", ServerModelOther)
        status = await client.status()
        assert (status.model, status.base, status.snapshot) == ("qwen3:latest", "other", None)
        double.models["qwen3:latest"] = Made({}, base)
        status = await client.status()
        assert (status.base, status.snapshot) == ("same", "v0")
        await guest.adopt(client, "v1")


async def test_a_model_that_ollama_lost_is_made_again(guest: Guest) -> None:
    async with (double := OllamaDouble()).running():
        client = guest.client("ollama", double)
        await answer(client, guest)
        double.models.clear()
        double.blobs.clear()
        said, _ = await answer(client, guest)
    assert said == "Hola, soy yo."


async def test_ollama_is_given_no_other_file_than_the_snapshots(guest: Guest) -> None:
    (guest.home.models / "smollm2-135m.gguf").write_bytes(guest.starter.read_bytes() + b"\0")
    async with (double := OllamaDouble()).running():
        with pytest.raises(ModelReplaced):
            await answer(guest.client("ollama", double), guest)
        assert double.blobs == {}


async def test_a_failed_promotion_puts_the_old_snapshot_back_on_the_server(guest: Guest) -> None:
    guest.add("v1", seed=1)
    async with (double := LlamaServerDouble(adapters=(stored(guest, "v1"),))).running():

        def fail() -> None:
            assert double.adapters[0]["scale"] == 1
            raise OSError("no room")

        with pytest.raises(OSError, match="no room"):
            await guest.client("llama-server", double).adopt(guest.snapshots["v1"], fail)
        assert double.adapters[0]["scale"] == 0


async def test_a_server_that_refuses_the_scales_keeps_the_old_snapshot(guest: Guest) -> None:
    guest.add("v1", seed=1)
    async with (double := LlamaServerDouble(adapters=(stored(guest, "v1"),))).running():
        double.faults.append(
            lambda asked: refusal(500, "no") if (asked.method, asked.target) == ("POST", "/lora-adapters") else None
        )
        await refused(guest, guest.client("llama-server", double), "v1", EngineError)
        double.faults.clear()
        double.faults.append(always(refusal(401, "no"), "/lora-adapters"))
        with pytest.raises(EngineError):
            await guest.adopt(guest.client("llama-server", double), "v1")
    assert guest.current == "v0"
