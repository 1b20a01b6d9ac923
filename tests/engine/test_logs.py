"""The engine's log: JSON lines of numbers and names, and no word of anybody's in any file that it leaves."""

from __future__ import annotations

import ast
import asyncio
import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine import crashes, logs
from engine.errors import EngineError, PromptTooLong
from engine.logs import JsonLines, log_to, note, short_path
from engine.messages import Message
from engine.starting import LOG
from tests.engine.conftest import Break, House, ask
from tests.engine.faulty_engine import WORDS
from tests.engine.snapshots import write_adapter, write_manifest
from tests.engine.test_server import FRANCE, answer, body, openai
from tests.engine.test_staying_up import until_gone
from tests.project import ROOT

log = logging.getLogger("enlace.engine")


def lines(house: House) -> list[dict[str, object]]:
    return [json.loads(line) for line in (house.home.logs / LOG).read_text().splitlines()]


def assert_no_words(house: House, *words: str) -> None:
    for path in house.home.logs.iterdir():
        content = path.read_bytes().decode(errors="replace")
        assert [word for word in words if word in content] == [], f"{path.name}: {content}"


async def test_nobodys_words_are_in_any_log_after_a_conversation_with_all_that_can_go_wrong(
    hasty: House, tmp_path: Path
) -> None:
    secret = [Message("system", f"You are {WORDS}."), Message("user", f"Say {WORDS}: {FRANCE}")]
    async for _ in hasty.client.chat(secret, hasty.sampling(8), cache_key=WORDS):
        pass
    with pytest.raises(PromptTooLong):
        await answer(hasty, ask(f"{WORDS} " * 9000))
    adapter = write_adapter(tmp_path / f"{WORDS}.gguf", strength=0)
    with pytest.raises(EngineError):
        await hasty.client.load(write_manifest(hasty.home, hasty.starter, name=f"v1 {WORDS}", adapter=adapter))
    wrong = [
        body(stop=[WORDS] * 40),
        body(messages=[{"role": WORDS, "content": WORDS}]),
        body(manifest=WORDS),
        body(grammar=f'root ::= "{WORDS}" | {WORDS} ::: '),
        body(
            response_format={"type": "json_schema", "json_schema": {"schema": {"pattern": f"({WORDS}", "type": WORDS}}}
        ),
        body(logit_bias={WORDS: WORDS}),
        body(tools=[{"type": "function", "function": {"name": WORDS, "description": WORDS, "parameters": WORDS}}]),
        body(messages=[{"role": "assistant", "content": WORDS, "tool_calls": [{"id": WORDS, "function": WORDS}]}]),
    ]
    async with openai(hasty) as client:
        for each in wrong:
            await client.post("/v1/chat/completions", json=each)
        for path in ("/score", "/tokenize", "/v1/embeddings", "/snapshot"):
            for given in ({"input": WORDS, "content": WORDS, "answer": WORDS}, {WORDS: [WORDS]}, [WORDS]):
                await client.post(path, json=given)
        await client.post(f"/{WORDS}?{WORDS}={WORDS}", content=f"{{{WORDS}", headers={"x-words": WORDS})
    await not_http(hasty)
    await hasty.client.stop()
    assert_no_words(hasty, WORDS, "pelican", "Paris", "capital", str(hasty.home.root), str(hasty.home.members))
    assert {line["event"] for line in lines(hasty)} >= {"serving", "ended", "swap_refused"}


async def not_http(house: House) -> None:
    reader, writer = await asyncio.open_unix_connection(str(house.home.engine_socket))
    writer.write(f"{WORDS} {WORDS} {WORDS}\r\n\r\n".encode())
    assert b"request_wrong" in await reader.read()
    writer.close()


async def test_an_error_whose_message_holds_words_is_logged_by_its_kind_and_its_place(
    hasty: House, broken: Break
) -> None:
    broken("words")
    await hasty.client.start()
    with pytest.raises(EngineError):
        await answer(hasty, ask(WORDS))
    await hasty.client.stop()
    assert_no_words(hasty, WORDS)
    (unforeseen,) = [line for line in lines(hasty) if line["event"] == "unforeseen"]
    assert unforeseen["error"] == "ValueError"
    assert "raise_words" in str(unforeseen["frames"])


async def test_errors_in_threads_callbacks_and_tasks_are_logged_without_their_words(
    hasty: House, broken: Break
) -> None:
    broken("words everywhere")
    await hasty.client.start()
    async with openai(hasty) as client:
        assert (await client.get("/v1/models")).status_code == 500
    await hasty.client.stop()
    assert_no_words(hasty, WORDS)
    found = {(line["event"], line.get("error")) for line in lines(hasty)}
    assert {(event, "ValueError") for event in ("unforeseen", "thread_died", "unraisable", "library")} <= found


async def test_a_crash_report_holds_nobodys_words(hasty: House, broken: Break) -> None:
    broken("segfault")
    await hasty.client.start()
    await answer(hasty, ask(f"{WORDS} {FRANCE}"))
    await hasty.client.stop()
    await until_gone(hasty.home)
    assert len(crashes.reports(hasty.home)) == 1
    assert_no_words(hasty, WORDS, str(hasty.home.root))


async def test_every_line_is_one_json_object_with_a_time_a_level_and_an_event(hasty: House) -> None:
    await answer(hasty, ask(FRANCE))
    await hasty.client.stop()
    for line in lines(hasty):
        assert {"time", "level", "event", "pid"} <= line.keys()
        assert str(line["time"]).endswith("Z")
        assert line["event"]


@pytest.fixture
def logging_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A file that every log line of this process goes to, during one test."""
    written = tmp_path / "engine.log"
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    root.handlers.clear()
    for module, name in (("threading", "excepthook"), ("sys", "unraisablehook"), ("sys", "excepthook")):
        monkeypatch.setattr(f"{module}.{name}", getattr(__import__(module), name))
    monkeypatch.setattr(logging, "raiseExceptions", True)
    log_to(written, longest=1024, kept=2)
    yield written
    for handler in root.handlers:
        handler.close()
    root.handlers[:] = before
    root.setLevel(level)


def test_the_log_begins_a_new_file_when_it_is_long_and_keeps_as_many_as_it_may(logging_to: Path) -> None:
    for number in range(100):
        note(log, "counted", number=number)
    files = sorted(path.name for path in logging_to.parent.glob("engine.log*"))
    assert files == ["engine.log", "engine.log.1", "engine.log.2"]
    assert all(path.stat().st_size <= 1024 for path in logging_to.parent.glob("engine.log*"))
    assert json.loads(logging_to.read_text().splitlines()[-1])["number"] == 99


def test_a_field_keeps_numbers_and_single_names_and_leaves_out_every_other_text(logging_to: Path) -> None:
    note(log, "tried", snapshot="v12", seconds=1.23456, said="two words", path="/home/ana", many=["a"], right=True)
    line = json.loads(logging_to.read_text())
    del line["time"], line["pid"]
    assert line == {"level": "info", "event": "tried", "snapshot": "v12", "seconds": 1.235, "right": True}


def test_a_line_of_native_code_tells_which_function_spoke_and_nothing_that_it_said(logging_to: Path) -> None:
    logging.getLogger("enlace.native").warning("llama_grammar_parse: unknown rule 'pelican'")
    logging.getLogger("enlace.native").warning("pelican: is a word")
    found = [json.loads(line) for line in logging_to.read_text().splitlines()]
    assert [line["source"] for line in found] == ["llama_grammar_parse", None]
    assert "pelican" not in logging_to.read_text()


def test_a_source_files_path_is_told_from_its_package_on() -> None:
    assert short_path(logs.__file__) == "engine/logs.py"
    assert short_path(ast.__file__) == "ast.py"
    assert short_path("/home/ana/own.py") == "own.py"


def test_a_library_is_told_by_its_name_and_place_and_never_by_its_message() -> None:
    record = logging.LogRecord("asyncio", logging.ERROR, "/x/base_events.py", 7, "pelican %s", ("words",), None)
    line = json.loads(JsonLines().format(record))
    assert (line["event"], line["library"], line["at"]) == ("library", "asyncio", "base_events:7")
    assert "pelican" not in str(line)
    assert "words" not in str(line)


def test_no_line_of_the_engines_log_is_put_together_before_it_is_checked() -> None:
    """An f-string or a sum would bring into the constant text what belongs into the fields."""
    put_together = [
        f"{path.name}:{node.lineno}"
        for path in (ROOT / "engine").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and _logs(node) and not isinstance(_event_of(node), ast.Constant)
    ]
    # logs.py passes on what note() was given, library.py what native code said, watchdog.py a name of its own.
    assert {name.partition(":")[0] for name in put_together} <= {"logs.py", "library.py", "watchdog.py"}


LEVELS = {"debug", "info", "warning", "error", "critical", "exception", "log"}


def _logs(node: ast.Call) -> bool:
    if isinstance(node.func, ast.Name):
        return node.func.id == "note"
    of = node.func
    return (
        isinstance(of, ast.Attribute) and of.attr in LEVELS and isinstance(of.value, ast.Name) and of.value.id == "log"
    )


def _event_of(node: ast.Call) -> ast.expr:
    second = isinstance(node.func, ast.Name) or (isinstance(node.func, ast.Attribute) and node.func.attr == "log")
    return node.args[1 if second else 0]
