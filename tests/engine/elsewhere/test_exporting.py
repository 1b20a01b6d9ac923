"""An exported snapshot is whole, and says to Ollama, llama-server and Docker what they can read."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from configs.home import Home
from engine.elsewhere.compose import Need
from engine.elsewhere.errors import ExportFailed, ExportInTheWay
from engine.elsewhere.exporting import Export, export_snapshot
from engine.elsewhere.lora import read_lora
from engine.elsewhere.modelfile import Described, quoted
from engine.gguf import check_gguf
from engine.served import read_served
from tests.engine.elsewhere.conftest import Guest
from tests.engine.elsewhere.modelfile_reader import read_modelfile
from tests.engine.snapshots import store, write_adapter

SYSTEM = 'Eres Enlace. Dices "hola"\ny a veces """adiós""".'


def exported(guest: Guest, digest: str, folder: Path, *, copy: bool = False) -> Export:
    settings = guest.settings("own", "")
    return export_snapshot(
        guest.home, settings, digest, folder, system=SYSTEM, explain=lambda made: f"# {made.snapshot}\n", copy=copy
    )


def compose(folder: Path) -> dict[str, Any]:
    services = yaml.safe_load((folder / "compose.yaml").read_text())["services"]
    assert isinstance(services, dict)
    return services


def several(guest: Guest, scales: tuple[float, ...]) -> str:
    """A snapshot with one adapter for each scale."""
    adapters = [
        {"sha256": store(guest.home, write_adapter(guest.folder / f"{n}.gguf", seed=n).read_bytes()), "scale": scale}
        for n, scale in enumerate(scales)
    ]
    base = {"name": "smollm2-135m", "sha256": hashlib.sha256(guest.starter.read_bytes()).hexdigest()}
    return store(guest.home, json.dumps({"format": 1, "name": "v9", "base": base, "adapters": adapters}).encode())


def test_the_folder_holds_weights_adapter_modelfile_compose_file_and_a_page(guest: Guest, tmp_path: Path) -> None:
    made = exported(guest, guest.add("v1", seed=1), tmp_path / "out")
    adapter = guest.adapters["v1"].read_bytes()
    named = f"enlace-{hashlib.sha256(adapter).hexdigest()[:12]}.gguf"
    files = {path.name for path in (tmp_path / "out").iterdir()}
    assert files == {"smollm2-135m.gguf", named, "Modelfile", "compose.yaml", "README.md", "peft"}
    assert (tmp_path / "out" / named).read_bytes() == adapter
    assert (tmp_path / "out" / "smollm2-135m.gguf").read_bytes() == guest.starter.read_bytes()
    assert (tmp_path / "out" / "README.md").read_text() == "# v1\n"
    assert made.adapters == ((named, 1.0),)
    assert made.ollama_adapter == named
    assert list(tmp_path.glob("*.part")) == list(tmp_path.glob(".*.part")) == []


def test_what_was_learned_is_there_in_pefts_form_for_everybody_to_read(guest: Guest, tmp_path: Path) -> None:
    made = exported(guest, several(guest, (1.0, 0.5)), tmp_path / "out")
    folder = tmp_path / "out" / "peft"
    assert made.peft == folder.name
    assert {path.name for path in folder.iterdir()} == {"adapter_config.json", "adapter_model.safetensors"}
    config = json.loads((folder / "adapter_config.json").read_text())
    # Two of rank 4 added up, over a base that nobody but the household calls by its name.
    assert (config["r"], config["target_modules"], config["base_model_name_or_path"]) == (8, ["v_proj"], None)
    assert folder.stat().st_mode & 0o777 == 0o755
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o644}


def test_the_base_alone_has_nothing_for_peft(guest: Guest, tmp_path: Path) -> None:
    made = exported(guest, guest.snapshots["v0"], tmp_path / "out")
    assert made.peft is None
    assert not (tmp_path / "out" / "peft").exists()


def test_the_modelfile_says_to_ollama_what_was_meant(guest: Guest, tmp_path: Path) -> None:
    made = exported(guest, guest.add("v1", seed=1), tmp_path / "out")
    commands = read_modelfile((tmp_path / "out" / "Modelfile").read_text())
    said = dict(commands)
    assert said["from"] == "./smollm2-135m.gguf"
    assert said["adapter"] == f"./{made.ollama_adapter}"
    assert said["template"].startswith("{{- range .Messages }}")
    assert said["template"].endswith("<|im_start|>assistant\n")
    assert said["system"] == SYSTEM.replace('"""', "'''")
    sampling = guest.settings("own", "").sampling
    assert float(said["parameter temperature"]) == sampling.temperature
    assert int(said["parameter top_k"]) == sampling.top_k
    assert int(said["parameter num_ctx"]) == 1024
    assert said["parameter stop"] == "<|im_end|>"
    assert [name for name, _ in commands].count("from") == 1


@pytest.mark.parametrize("text", ["", "a", "two\nlines", '"', 'ends with "quotes"', "{{ .System }}\n", "tab\tñ 👋 \\n"])
def test_any_text_is_one_argument_in_a_modelfile(text: str) -> None:
    assert read_modelfile(f"FROM x\nSYSTEM {quoted(text)}\nPARAMETER top_k 1\n") == [
        ("from", "x"), ("system", text), ("parameter top_k", "1"),
    ]  # fmt: skip


def test_the_modelfile_and_the_request_to_ollama_say_the_same(guest: Guest) -> None:
    described = Described(None, 512, guest.settings("own", "").sampling, "Sé breve.")
    said = dict(read_modelfile(described.modelfile("./m.gguf", ["./a.gguf"])))
    request = described.request("m", "f" * 64, ["e" * 64])
    assert said["system"] == request["system"]
    assert "template" not in request
    assert "template" not in said
    assert request["files"] == {"model.gguf": "sha256:" + "f" * 64}
    assert request["adapters"] == {"adapter0.gguf": "sha256:" + "e" * 64}
    assert {name: float(said[f"parameter {name}"]) for name in request["parameters"]} == pytest.approx(
        request["parameters"], rel=1e-5
    )


def test_every_service_has_a_memory_limit_a_health_check_and_a_port_on_the_loopback(
    guest: Guest, tmp_path: Path
) -> None:
    made = exported(guest, guest.add("v1", seed=1), tmp_path / "out")
    services = compose(tmp_path / "out")
    for name in ("ollama", "llama-server"):
        service = services[name]
        assert service["mem_limit"] == f"{made.memory_mb}m"
        assert service["healthcheck"]["test"][0] == "CMD"
        assert all(port.startswith("127.0.0.1:") for port in service["ports"])
        assert "./:/model:ro" in service["volumes"]
    assert services["create"]["depends_on"]["ollama"]["condition"] == "service_healthy"
    assert services["create"]["entrypoint"] == ["ollama", "create", "enlace:v1", "-f", "/model/Modelfile"]
    assert services["create"]["mem_limit"].endswith("m")
    command = services["llama-server"]["command"]
    for option in ("--model", "--lora"):
        inside = command[command.index(option) + 1]
        assert (tmp_path / "out" / inside.removeprefix("/model/")).is_file()


def test_the_memory_limit_is_that_of_weights_cache_and_overhead(guest: Guest, tmp_path: Path) -> None:
    made = exported(guest, guest.snapshots["v0"], tmp_path / "out")
    settings, summary = guest.settings("own", ""), check_gguf(guest.starter)
    cache = summary.cache_bytes_per_token * 1024 * settings.slots
    least = (summary.file_size + cache) / (1 << 20)
    assert least + settings.export.overhead_mb <= made.memory_mb < least + settings.export.overhead_mb + 1
    need = Need(weights=1 << 30, adapters=0, cache_per_token=1 << 10, context_size=1 << 10, slots=1)
    assert replace(need, slots=3).megabytes(0) == need.megabytes(0) + 2


def test_several_adapters_are_one_for_ollama_and_themselves_for_llama_server(guest: Guest, tmp_path: Path) -> None:
    made = exported(guest, several(guest, (1.0, 0.5)), tmp_path / "out")
    said = dict(read_modelfile((tmp_path / "out" / "Modelfile").read_text()))
    assert said["adapter"] == "./enlace-together.gguf"
    together = read_lora(tmp_path / "out" / "enlace-together.gguf", guest.starter)
    assert {a.shape[0] for a, _ in together.pairs.values()} == {8}
    command = compose(tmp_path / "out")["llama-server"]["command"]
    (first, _), (second, _) = made.adapters
    assert command[-4:] == ["--lora", f"/model/{first}", "--lora-scaled", f"/model/{second}:0.5"]


def test_the_weights_are_a_second_name_of_the_file_or_a_copy_where_that_is_asked_for(
    guest: Guest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = guest.home.models / "smollm2-135m.gguf"
    own.write_bytes(guest.starter.read_bytes())
    exported(guest, guest.snapshots["v0"], tmp_path / "linked")
    assert (tmp_path / "linked" / "smollm2-135m.gguf").stat().st_ino == own.stat().st_ino
    exported(guest, guest.snapshots["v0"], tmp_path / "copied", copy=True)
    assert (tmp_path / "copied" / "smollm2-135m.gguf").stat().st_ino != own.stat().st_ino

    def another_disk(*_names: object) -> None:
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(os, "link", another_disk)
    exported(guest, guest.snapshots["v0"], tmp_path / "elsewhere")
    assert (tmp_path / "elsewhere" / "smollm2-135m.gguf").read_bytes() == own.read_bytes()


def test_what_is_there_already_is_left_alone(guest: Guest, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    (tmp_path / "file").write_text("mine")
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "empty")
    for name in ("full", "file", "link"):
        with pytest.raises(ExportInTheWay):
            exported(guest, guest.snapshots["v0"], tmp_path / name)
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["mine.txt"]
    exported(guest, guest.snapshots["v0"], tmp_path / "empty")
    exported(guest, guest.snapshots["v0"], tmp_path / "not" / "there" / "yet")
    for place in ("empty", "not/there/yet"):
        assert (tmp_path / place / "Modelfile").is_file()


def test_an_export_that_fails_leaves_nothing_behind(
    guest: Guest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_arguments: object, **_named: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("engine.elsewhere.exporting.compose_file", full)
    with pytest.raises(ExportFailed) as caught:
        exported(guest, guest.snapshots["v0"], tmp_path / "out")
    assert caught.value.facts == {"path": str(tmp_path / "out"), "reason": "No space left on device"}
    assert not (tmp_path / "out").exists()
    assert list(tmp_path.glob(".*.part")) == []


def test_weights_with_what_was_learned_in_them_need_no_adapter(
    guest: Guest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    merged = guest.home.artifact("a" * 64)
    merged.parent.mkdir(parents=True, exist_ok=True)
    merged.write_bytes(guest.starter.read_bytes())

    def as_merged(home: Home, digest: str) -> Any:
        return replace(read_served(home, digest), model=merged, adapters=(), merged=True)

    digest = guest.add("v1", seed=1)
    monkeypatch.setattr("engine.elsewhere.exporting.read_served", as_merged)
    made = exported(guest, digest, tmp_path / "out")
    assert (made.model, made.adapters, made.merged) == ("smollm2-135m-v1.gguf", (), True)
    said = dict(read_modelfile((tmp_path / "out" / "Modelfile").read_text()))
    assert said["from"] == "./smollm2-135m-v1.gguf"
    assert "adapter" not in said
    # For the weights as they were before, which others may have.
    assert (tmp_path / "out" / "peft" / "adapter_model.safetensors").is_file()
    assert "--lora" not in compose(tmp_path / "out")["llama-server"]["command"]
