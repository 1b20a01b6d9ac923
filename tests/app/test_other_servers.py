"""Commands and the status line where another server answers: what is said is what is known of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from app.catalogue import LANGUAGES, Catalogue
from app.commands.snapshots_export import page
from app.interface.chat import status
from app.interface.chat.talk import Progress
from app.session import Session
from configs.home import Home
from configs.settings import load_settings
from engine.elsewhere.errors import ServerAddressWrong
from engine.elsewhere.exporting import Export
from tests.app.conftest import Run
from tests.engine.elsewhere.doubles import Double
from tests.engine.elsewhere.ollama_double import OllamaDouble
from tests.engine.elsewhere.openai_doubles import LlamaServerDouble, VLLMDouble

MAKERS: dict[str, Callable[[], Double]] = {
    "llama-server": LlamaServerDouble,
    "vllm": VLLMDouble,
    "ollama": lambda: OllamaDouble("qwen3:latest"),
}
every_kind = pytest.mark.parametrize("kind", MAKERS)


def served_by(home: Home, kind: str, url: str) -> None:
    """The household's settings name this server."""
    server = {
        "kind": kind,
        "url": url,
        "model": "qwen3" if kind == "ollama" else "",
        "wait_s": 0,
        "connect_timeout_s": 2,
    }
    home.config_file.write_text(yaml.safe_dump({"engine": {"server": server}}))


@every_kind
def test_a_question_is_answered_by_the_server_and_no_engine_is_started(enlace: Run, home: Home, kind: str) -> None:
    double = MAKERS[kind]()
    with double.in_a_thread():
        served_by(home, kind, double.url)
        ran = enlace("ask", "¿Quién eres?", "--json")
        assert ran.code == 0, ran.err
        answer = json.loads(ran.out)
        assert answer["answer"] == "Hola, soy yo."
        assert answer["prompt_tokens"] == 20
    assert not home.engine_lock.exists()


@every_kind
def test_the_status_says_which_server_and_what_it_serves(here: Run, home: Home, kind: str) -> None:
    double = MAKERS[kind]()
    with double.in_a_thread():
        served_by(home, kind, double.url)
        said = here("engine", "status").out
        facts = json.loads(here("engine", "status", "--json").out)
        here("members", "add", "Inés", "--language", "es")
        spanish = here("engine", "status", ENLACE_MEMBER="Inés").out
    assert f"{kind} at {double.url} answers" in said
    assert f"Responde {kind}, en {double.url}, no el motor propio" in spanish
    assert (facts["running"], facts["reachable"], facts["kind"]) == (True, True, kind)
    # Nothing that only the engine of the household can know.
    assert {"pid", "memory_bytes", "uptime_s"} & facts.keys() == set()
    assert (facts["snapshot"], "not known to use the current snapshot" in said) == (None, True)


@every_kind
def test_a_server_that_is_away_is_told_in_a_sentence(here: Run, home: Home, kind: str) -> None:
    double = MAKERS[kind]()
    with double.in_a_thread():
        pass
    served_by(home, kind, double.url)
    said = here("engine", "status").out
    assert "I cannot reach" in said
    assert double.url in said
    facts = json.loads(here("engine", "status", "--json").out)
    assert (facts["running"], facts["reachable"], facts["problem"]) == (False, False, "server_unreachable")
    assert facts["model"] is None
    ran = here("ask", "Hi")
    assert ran.code == 1
    assert double.url in ran.err


@every_kind
def test_the_server_is_not_ours_to_start_or_stop(here: Run, home: Home, kind: str) -> None:
    double = MAKERS[kind]()
    with double.in_a_thread():
        served_by(home, kind, double.url)
        for act in ("start", "stop", "run"):
            ran = here("engine", act)
            assert (ran.code, ran.out) == (1, "")
            assert "not mine" in ran.err
        assert double.asked == []


def test_an_engine_that_still_runs_from_before_can_be_stopped(enlace: Run, home: Home) -> None:
    assert enlace("engine", "start").code == 0
    served_by(home, "vllm", "http://127.0.0.1:9")
    assert "has stopped" in enlace("engine", "stop").out
    assert enlace("engine", "stop").code == 1


@pytest.mark.parametrize(
    ("server", "said"),
    [
        ({"kind": "vllm"}, "engine.server"),
        ({"kind": "vllm", "url": "gpu:8000"}, "gpu:8000"),
        ({"kind": "vllm", "url": "http://gpu", "key_variable": "ABSENT_KEY"}, "ABSENT_KEY"),
        ({"kind": "bard", "url": "http://gpu"}, "engine.server.kind"),
    ],
)
def test_wrong_settings_of_a_server_are_wrong_usage(here: Run, home: Home, server: dict[str, str], said: str) -> None:
    home.config_file.write_text(yaml.safe_dump({"engine": {"server": server}}))
    ran = here("engine", "status")
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err


async def test_the_status_line_names_the_server_and_nothing_that_is_not_known(home: Home) -> None:
    double = LlamaServerDouble()
    with double.in_a_thread(), Session({"ENLACE_HOME": str(home.root), "LANG": "es"}) as session:
        served_by(home, "llama-server", double.url)
        facts = await status.look(session)
        line = status.sentence(facts, Progress(), session.catalogue)
        assert line.startswith("llama-server · model.gguf · ")
        assert "v0" not in line
    with Session({"ENLACE_HOME": str(home.root), "LANG": "es"}) as session:
        facts = await status.look(session)
        assert status.sentence(facts, Progress(), session.catalogue).startswith("llama-server · no responde · ")
        waiting = status.sentence(facts, Progress(writing=True), session.catalogue)
        assert "arrancando" not in waiting


def test_a_session_with_a_wrong_address_says_so_when_the_engine_is_first_needed(home: Home) -> None:
    with Session({"ENLACE_HOME": str(home.root)}) as session:
        home.config_file.write_text(yaml.safe_dump({"engine": {"server": {"kind": "vllm", "url": "nowhere"}}}))
        with pytest.raises(ServerAddressWrong):
            asyncio.run(session.engine.status())


def test_a_snapshot_is_exported_with_a_page_in_the_members_language(here: Run, home: Home, tmp_path: Path) -> None:
    for lang, title, sentence in (
        ("es_ES.UTF-8", "## Archivos", "modelo de partida"),
        ("en_GB.UTF-8", "## Files", "at first"),
    ):
        folder = tmp_path / lang
        with Session({"ENLACE_HOME": str(home.root)}) as session:
            session.household.members.add(lang, lang[:2])
        ran = here("snapshots", "export", "--to", str(folder), lang=lang, ENLACE_MEMBER=lang)
        assert ran.code == 0, ran.err
        assert str(folder) in ran.out
        page = (folder / "README.md").read_text(encoding="utf-8")
        assert title in page
        assert sentence in page
        assert "{" not in page
        assert "docker compose up -d" in page
        assert "PEFT" not in page
    ran = here("snapshots", "export", "v0", "--to", str(tmp_path / "json"), "--json")
    facts = json.loads(ran.out)
    assert (facts["snapshot"], facts["model"], facts["merged"]) == ("v0", "smollm2-135m.gguf", False)
    assert here("snapshots", "export", "v0", "--to", str(tmp_path / "json")).code == 2
    assert here("snapshots", "export", "v9", "--to", str(tmp_path / "other")).code == 2
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_says_over_which_weights_pefts_folder_goes(home: Home, language: str) -> None:
    settings = load_settings(home, {}).engine.export

    def written(**facts: object) -> str:
        common = {"snapshot": "v1", "base": "small", "name": "enlace:v1", "model": "small.gguf", "adapters": ()}
        rest = {"ollama_adapter": None, "template": True, "context_size": 512, "slots": 2, "memory_mb": 700}
        return page(Catalogue(language), Export(**common | rest | facts), settings)  # type: ignore[arg-type]

    beside = written(peft="peft", merged=False)
    assert "- `peft/`" in beside
    assert 'AutoModelForCausalLM.from_pretrained(".", gguf_file="small.gguf")' in beside
    merged = written(peft="peft", merged=True)
    assert 'PeftModel.from_pretrained(base, "peft")' in merged
    # These weights hold what was learned: over them, it would be there twice.
    assert "gguf_file" not in merged
    assert "PEFT" not in written(peft=None, merged=False)
