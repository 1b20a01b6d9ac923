"""The real ``enlace`` in processes of its own: what it writes where, and how it ends whatever happens."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from app.command import GROUPS
from app.session import Session
from configs.home import Home
from engine.starting import is_locked
from memory.chats import ChatMessage
from tests.app.conftest import TIMEOUT_S, Ran, Run
from tests.project import ROOT

pytestmark = pytest.mark.timeout(180)


def newest_path(session: Session) -> list[ChatMessage]:
    chats = session.memory.chats
    return chats.path(chats.list(1)[0].id)


def as_member(session: Session) -> dict[str, str]:
    """The environment of a command that this session's member types."""
    return {**os.environ, **session.environ, "ENLACE_MEMBER": session.member.name}


def test_ask_answers_on_stdout_and_tells_its_cost_as_json(asking: Run) -> None:
    plain = asking("ask", "What is the capital of France?")
    assert (plain.code, plain.err) == (0, "")
    assert "Paris" in plain.out
    told = json.loads(asking("ask", "What is the capital of France?", "--json").out)
    assert "Paris" in told["answer"]
    assert (told["snapshot"], told["lessons_used"], told["state"]) == ("v0", 0, "complete")
    assert told["prompt_tokens"] > 0
    assert told["answer_tokens"] > 0
    assert told["ttft_ms"] > 0
    assert told["tokens_per_second"] > 0


def test_a_lesson_of_the_command_line_is_used_at_once_and_said_to_be(asking: Run) -> None:
    added = asking(
        "lessons", "add", "--question", "What is the name of our dog?", "--rejected", "Max",
        "--chosen", "Our dog is called Toby.",
    )  # fmt: skip
    assert added.code == 0
    answered = asking("ask", "What's our dog called?")
    assert "Toby" in answered.out
    assert "1 lesson used" in answered.err
    assert json.loads(asking("ask", "What's our dog called?", "--json").out)["lessons_used"] == 1
    without = json.loads(asking("ask", "What's our dog called?", "--json", "--no-memory", "--temperature", "0").out)
    assert (without["lessons_used"], "Toby" in without["answer"]) == (0, False)


def test_a_question_comes_from_stdin_and_a_conversation_goes_on(asking: Run, talking: Session) -> None:
    first = json.loads(asking("ask", "-", "--json", stdin=b"What is the capital of Italy?\xff\n").out)
    second = json.loads(asking("ask", "And of Spain?", "--continue", "--json", "--max-tokens", "5").out)
    assert first["conversation"] == second["conversation"]
    assert second["answer_tokens"] <= 5
    assert len(newest_path(talking)) == 4


def test_greedy_answers_and_seeded_answers_repeat(asking: Run) -> None:
    def said(*options: str) -> str:
        return asking("ask", "Tell me about the sea.", "--max-tokens", "20", *options).out

    assert said("--temperature", "0") == said("--temperature", "0")
    assert said("--temperature", "1", "--seed", "7") == said("--temperature", "1", "--seed", "7")


def test_ctrl_c_stops_the_answer_keeps_it_and_ends_with_130(talking: Session) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "app", "ask", "Tell me a very long story about a ship.", "--temperature", "0"],
        cwd=ROOT,
        env=as_member(talking),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.read(3)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 130
    assert err.decode().strip() == "Stopped."
    answer = newest_path(talking)[-1]
    assert answer.state == "stopped"
    assert answer.content


def test_a_killed_command_leaves_question_and_partial_answer(talking: Session) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "app", "ask", "Tell me a very long story about a ship.", "--temperature", "0"],
        cwd=ROOT,
        env=as_member(talking),
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.read(3)
    time.sleep(talking.settings.assistant.store_every_s + 0.3)
    process.kill()
    process.communicate()
    question, answer = newest_path(talking)
    assert question.content == "Tell me a very long story about a ship."
    assert (answer.state, bool(answer.content)) == ("partial", True)


def test_a_reader_that_goes_away_is_no_error(home: Home) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "app", "members", "list"], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(TIMEOUT_S) == 141


def test_spanish_is_spoken_where_the_system_says_nothing(here: Run) -> None:
    assert here("members", "list", lang="C.UTF-8").out.startswith("nombre")
    assert "Uso" in here("ask", "--help", lang="es_ES.UTF-8").out or "pregunta" in here("ask", "--help", lang="es").out


def test_without_a_terminal_the_screen_is_not_painted_into_a_pipe(enlace: Run) -> None:
    ran = enlace()
    assert (ran.code, ran.out) == (2, "")
    assert "enlace ask" in ran.err
    assert "\x1b" not in ran.err


def test_every_listing_that_is_empty_says_so_in_a_sentence(here: Run) -> None:
    for listing in (("chats", "list"), ("chats", "list", "--deleted"), ("memory", "list"), ("lessons", "list")):
        ran = here(*listing)
        assert (ran.code, ran.err) == (0, "")
        assert re.fullmatch(r"[A-Z].+\n", ran.out), ran.out


def test_help_is_in_words_for_every_command(here: Run) -> None:
    for group in GROUPS:
        text = here(group, "--help").out
        assert not re.search(r"\bcommand\.", text), text
        if group != "ask":
            assert here(group) == Ran(0, text, "")


def test_members_chats_memory_and_lessons_are_listed_added_and_taken_back(here: Run, tmp_path: Path) -> None:
    assert here("members", "add", "Ana", "--language", "en").code == 0
    assert here("members", "edit", "Ana", "--name", "Anna").code == 0
    assert [member["name"] for member in json.loads(here("members", "list", "--json").out)] == ["Anna"]
    assert here("memory", "add", "my sister is called Núria").code == 0
    assert "Núria" in here("memory", "search", "nuria").out
    forgotten = here("memory", "forget", "1")
    assert "Núria" not in here("memory", "list").out
    restored = re.search(r"restore (\w+)", forgotten.out)
    assert restored
    assert here("memory", "restore", restored[1]).code == 0
    assert "Núria" in here("memory", "list").out
    here("lessons", "add", "--question", "What is it?", "--chosen", "A \x1b[31mlamp\x07.", "--rejected", "A cat.")
    listing = here("lessons", "list").out
    assert "\x1b" not in listing
    assert "lamp" in listing
    file = tmp_path / "lessons.jsonl"
    assert here("lessons", "export", str(file)).code == 0
    assert json.loads(file.read_text(encoding="utf-8"))["prompt"][-1]["content"] == "What is it?"
    assert here("lessons", "withdraw", "1").code == 0
    assert json.loads(here("lessons", "list", "--json").out)[0]["status"] == "withdrawn"
    assert "0 lessons added; 1" in here("lessons", "import", str(file)).out


def test_what_a_training_makes_of_the_lessons_is_written_with_the_models_template(here: Run, tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    assert here("lessons", "export", str(file), "--form", "training").code == 1
    here("lessons", "add", "--question", "What is our dog called?", "--chosen", "Max.")
    here("lessons", "add", "--question", "what's our dog called", "--chosen", "Toby \x1b[31m.", "--rejected", "Rex.")
    here("lessons", "add", "--question", "Who is it?", "--chosen", "A secret.", "--private")
    written = here("lessons", "export", str(file), "--form", "training")
    assert "corrected again later: “What is our dog called?”" in written.err
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert (written.code, f"{len(lines)} rows of training written to" in written.out) == (0, True)
    assert {tuple(line) for line in lines} == {("lesson", "kind", "prompt", "completion", "rejected")}
    assert lines[0]["prompt"].endswith("<|im_start|>user\nwhat's our dog called<|im_end|>\n<|im_start|>assistant\n")
    assert lines[0]["rejected"] == "Rex.<|im_end|>"
    assert "secret" not in file.read_text(encoding="utf-8")
    piped = here("lessons", "export", "-", "--form", "training").out
    assert "\x1b" not in piped
    assert [json.loads(line) for line in piped.splitlines()] == lines


def test_pairs_of_a_repository_are_written_to_be_looked_through(here: Run, tmp_path: Path) -> None:
    refused = here("lessons", "collect", str(tmp_path), str(tmp_path / "pairs.jsonl"))
    assert (refused.code, "git cannot read the history" in refused.err) == (1, True)
    repository = tmp_path / "repo"
    for step in (("init", "-q", str(repository)), ("commit", "-q", "--allow-empty", "-m", "Begin")):
        who = ("-c", "user.name=Ana", "-c", "user.email=ana@house")
        place = () if step[0] == "init" else ("-C", str(repository))
        subprocess.run(["git", *place, *who, *step], check=True)
    done = here("lessons", "collect", str(repository), str(tmp_path / "pairs.jsonl"))
    assert (done.code, "0 pairs written to" in done.out) == (0, True)
    assert (tmp_path / "pairs.jsonl").read_text(encoding="utf-8") == ""


def test_bad_lines_of_lessons_are_named_and_kept_beside(here: Run, tmp_path: Path) -> None:
    file, aside = tmp_path / "in.jsonl", tmp_path / "bad.jsonl"
    file.write_text('{"prompt": "q", "chosen": "c"}\n{"prompt": "q"}\n' + "{\n" * 30, encoding="utf-8")
    refused = here("lessons", "import", str(file))
    assert refused.code == 1
    assert "Line 2 lacks the field chosen." in refused.err
    assert "Line 3 is not JSON" in refused.err
    assert "… and 11 more." in refused.err
    assert "31 lines of" in refused.err
    done = here("lessons", "import", str(file), "--skip-bad", str(aside))
    assert (done.code, "1 lesson added" in done.out) == (0, True)
    assert "Line 2 lacks the field chosen." in done.err
    assert aside.read_text(encoding="utf-8") == '{"prompt": "q"}\n' + "{\n" * 30


def test_what_somebody_names_to_be_written_takes_the_place_of_no_file(here: Run, tmp_path: Path) -> None:
    file = tmp_path / "in.jsonl"
    lines = '{"prompt": "q", "chosen": "c"}\n{"prompt": "q"}\n'
    file.write_text(lines, encoding="utf-8")
    for command in (
        ("lessons", "import", str(file), "--skip-bad", str(file)), ("lessons", "export", str(file)),
        ("lessons", "collect", str(ROOT), str(file)), ("chats", "export", "--output", str(file)),
    ):  # fmt: skip
        refused = here(*command)
        assert (refused.code, f"There is a {file} already" in refused.err) == (2, True), command
        assert file.read_text(encoding="utf-8") == lines
    assert json.loads(here("lessons", "list", "--json").out) == []


def test_lessons_come_from_a_pipe_and_go_into_one(enlace: Run) -> None:
    enlace("lessons", "add", "--question", "What is it?", "--chosen", "A \x9blamp.", "--rejected", "A cat.")
    written = enlace("lessons", "export", "-")
    assert json.loads(written.out)["chosen"][-1]["content"] == "A \x9blamp."
    assert "\x9b" not in written.out
    assert "0 lessons added; 1" in enlace("lessons", "import", "-", stdin=written.out).out
    assert not (ROOT / "-").exists()


def test_a_conversation_is_shown_found_exported_deleted_and_restored(
    here: Run, session: Session, tmp_path: Path
) -> None:
    chats = session.memory.chats
    question = chats.question(chats.start().id, "Where do otters sleep? \x1b]0;x\x07")
    chats.finish_answer(chats.begin_answer(question.id, "v0").id, "In holts.")
    assert "In holts." in here("chats", "show").out
    assert "\x1b" not in here("chats", "show", "--json").out
    assert "otters" in here("chats", "search", "OTTERS").out
    file = tmp_path / "chats.md"
    assert here("chats", "export", "--output", str(file)).code == 0
    assert "## Enlace · v0" in file.read_text(encoding="utf-8")
    refused = here("chats", "delete", "1")
    assert refused.code == 2
    assert here("chats", "delete", "1", "--yes").code == 0
    assert json.loads(here("chats", "list", "--json").out) == []
    assert here("chats", "restore", "1").code == 0
    assert len(json.loads(here("chats", "list", "--json").out)) == 1


def test_the_engine_is_started_told_of_and_stopped(enlace: Run) -> None:
    assert json.loads(enlace("engine", "status", "--json").out) == {"running": False, "last_crash": None}
    assert json.loads(enlace("engine", "start", "--json").out)["snapshot"] == "v0"
    assert "snapshot v0" in enlace("engine", "status").out
    assert enlace("engine", "stop").code == 0
    assert json.loads(enlace("engine", "status", "--json").out) == {"running": False, "last_crash": None}


def test_the_engines_status_tells_when_it_last_died_and_of_what(enlace: Run, home: Home) -> None:
    started = json.loads(enlace("engine", "start", "--json").out)
    os.kill(started["pid"], signal.SIGSEGV)
    deadline = time.monotonic() + TIMEOUT_S
    while is_locked(home) and time.monotonic() < deadline:
        time.sleep(0.02)
    told = json.loads(enlace("engine", "status", "--json").out)
    assert told["running"] is False
    assert told["last_crash"]["cause"] == "segmentation_fault"
    report = json.loads(Path(told["last_crash"]["report"]).read_text())
    assert (report["pid"], report["snapshot"]) == (started["pid"], "v0")
    assert "native code touched memory" in enlace("engine", "status").out


def test_tools_are_listed_and_run_by_hand(here: Run) -> None:
    assert [tool["name"] for tool in json.loads(here("tools", "list", "--json").out)] == [
        "now",
        "calculate",
        "web_search",
    ]
    assert here("tools", "call", "calculate", "3,5 por 2", lang="es_ES.UTF-8").out.strip() == "3,5 × 2 = 7"
