"""What goes wrong in a command is said in a sentence, with the right exit code and never a traceback."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from configs.home import Home
from engine.starting import is_locked
from tests.app.conftest import Run

pytestmark = pytest.mark.timeout(180)


def no_traceback(text: str) -> bool:
    return "Traceback" not in text and 'File "' not in text


@pytest.mark.parametrize(
    ("arguments", "environment", "code", "said"),
    [
        (("ask", " \n"), {}, 2, "no question"),
        (("ask", "Hi"), {"ENLACE_HOME": "/dev/null/house"}, 1, "/dev/null/house"),
        (("members", "list"), {"ENLACE_HOME": f"/{'n' * 300}"}, 1, "household's folder, /nnn"),
        (("ask", "Hi"), {"ENLACE_ENGINE__MODEL": "absent"}, 1, "absent"),
        (("ask", "Hi"), {"ENLACE_ENGINE__SLOTS": "many"}, 2, "engine.slots"),
        (("ask", "Hi"), {"ENLACE_ENGINE__SLOT": "2"}, 2, "engine.slots"),
        (("ask", "Hi", "--member", "nobody"), {}, 2, "nobody"),
        (("ask", "Hi", "--temperature", "9"), {}, 2, "--temperature"),
        (("ask",), {}, 2, "enlace ask --help"),
        (("ask", "two", "words"), {}, 2, "quotes"),
        (("ask", "Hi", "--sed", "7"), {}, 2, "--sed"),
        (("ask", "Hi", "--seed"), {}, 2, "--seed"),
        (("lessons", "add"), {}, 2, "--question"),
        (("train", "sing"), {}, 2, "enlace train --help"),
        (("sing",), {}, 2, "sing"),
        (("chats", "show", "7"), {}, 2, "7"),
        (("chats", "show", "²"), {}, 2, "²"),
        (("members", "add", " "), {}, 2, ""),
        (("members", "add", "Ana", "--language", "tlh"), {}, 2, "tlh"),
        (("members", "remove", "nobody", "--yes"), {}, 2, "nobody"),
        (("lessons", "add", "--question", "Q", "--chosen", "A", "--rejected", "A "), {}, 2, ""),
        (("lessons", "add", "--question", "Q", "--chosen", " "), {}, 2, ""),
        (("lessons", "import", "/nowhere/at/all"), {}, 1, "/nowhere/at/all"),
        (("memory", "forget", "3"), {}, 2, "3"),
        (("documents", "add", "~nobodyatall/x"), {}, 2, "~nobodyatall/x"),
        (("documents", "add", "n" * 300), {}, 2, "no file or folder at nnn"),
        (("documents", "remove", "~nobodyatall/x", "--yes"), {}, 2, "~nobodyatall/x"),
        (("members", "export", "~nobodyatall/x"), {}, 1, "~nobodyatall/x"),
        (("chats", "list", "--limit", "99999999999999999999"), {}, 2, "--limit"),
        (("graph", "query", "--to", "Ana"), {}, 2, "without --from"),
        (("graph", "query", "--kind", "person", "--from", "Ana"), {}, 2, "--kind does not go with --from"),
        (("graph", "query", "--relation", "phone", "--from", "A", "--to", "B"), {}, 2, "not go with --to"),
        (("graph", "query", "--limit", "99999999999999999999"), {}, 2, "--limit"),
        (("tools", "call", "weather"), {}, 2, "calculate"),
        (("tools", "call", "calculate", "2**999999999"), {}, 1, "400"),
        (("snapshots", "rollback"), {}, 1, "v0"),
        (("snapshots", "show", "v9"), {}, 2, "v9"),
        (("train", "stop"), {}, 1, "enlace train now"),
        (("train", "report"), {}, 1, "enlace train now"),
        (("models", "use", "absent"), {}, 1, "absent"),
    ],
)
def test_what_goes_wrong_is_said_in_a_sentence_with_the_right_code(
    here: Run, arguments: tuple[str, ...], environment: dict[str, str], code: int, said: str
) -> None:
    ran = here(*arguments, **environment)
    assert (ran.code, ran.out) == (code, ""), ran.err
    assert said in ran.err
    assert no_traceback(ran.err)
    assert 1 <= len(ran.err.strip().splitlines()) <= 2


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("members", "list", "--json", "--member", "Ana"), 2, "wrong_usage"),
        (("chats", "show", "7", "--json"), 2, "conversation_unknown"),
        (("memory", "list", "--json", "--member", "nobody"), 2, "member_unknown"),
        (("backup", "create", "x.tar", "--json"), 1, "nothing_to_back_up"),
    ],
)
def test_who_asks_for_json_is_told_in_json_what_goes_wrong(
    here: Run, arguments: tuple[str, ...], code: int, said: str
) -> None:
    ran = here(*arguments)
    told = json.loads(ran.out)["error"]
    assert (ran.code, told["code"]) == (code, said)
    assert ran.err == f"{told['what']}\n{told['next']}\n"


def test_what_fails_after_it_has_told_adds_no_second_document(here: Run, tmp_path: Path) -> None:
    (tmp_path / "no.tar").write_bytes(b"no backup")
    ran = here("backup", "verify", str(tmp_path / "no.tar"), "--json")
    assert (ran.code, json.loads(ran.out)["whole"]) == (1, False)
    assert here("chats", "show", "7", "--", "--json").out == ""


def test_what_was_so_in_the_first_year_there_is_can_be_asked_for(here: Run) -> None:
    ran = here("memory", "list", "--as-of", "0001-01-01", "--json")
    assert (ran.code, json.loads(ran.out)) == (0, [])


def test_the_help_is_told_where_the_home_cannot_be_looked_at(here: Run) -> None:
    ran = here("--help", ENLACE_HOME=f"/{'n' * 300}")
    assert (ran.code, ran.err) == (0, "")
    assert "backup" in ran.out


@pytest.mark.parametrize("content", [b"GGUF" + b"\0" * 39, b"I am a text file.\n" * 100, b""])
def test_a_broken_model_is_named(here: Run, home: Home, content: bytes) -> None:
    (home.models / "broken.gguf").write_bytes(content)
    for ran in (here("ask", "Hi", ENLACE_ENGINE__MODEL="broken"), here("models", "use", "broken")):
        assert ran.code == 1
        assert "broken.gguf" in ran.err
        assert no_traceback(ran.err)


def test_a_truncated_model_is_named(here: Run, home: Home, starter: Path) -> None:
    with starter.open("rb") as whole:
        (home.models / "half.gguf").write_bytes(whole.read(3_000_000))
    ran = here("ask", "Hi", ENLACE_ENGINE__MODEL="half")
    assert ran.code == 1
    assert "half.gguf" in ran.err
    assert no_traceback(ran.err)


def test_an_error_that_nobody_foresaw_is_one_sentence_and_its_details_are_in_the_log(here: Run, home: Home) -> None:
    home.config_file.write_text("assistant:\n  time_zone: Europe/Madrid\n", encoding="utf-8")
    home.family_db.mkdir()
    ran = here("members", "list")
    assert ran.code == 1
    assert no_traceback(ran.err)


@pytest.mark.parametrize(("redirection", "code", "said"), [("> /dev/full", 1, b"no queda sitio"), (">&-", 0, b"")])
def test_output_that_cannot_be_written_is_told_of_and_one_that_is_not_wanted_is_not(
    home: Home, redirection: str, code: int, said: bytes
) -> None:
    ran = subprocess.run(
        ["sh", "-c", f"{sys.executable} -m app members list {redirection}"],
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == code, ran.stderr
    assert said in ran.stderr
    assert no_traceback(ran.stderr.decode())
    assert b"Exception" not in ran.stderr


@pytest.mark.parametrize("shut", ["family_db", "engine_lock"])
def test_the_engine_is_looked_at_and_stopped_where_nothing_can_be_written(here: Run, home: Home, shut: str) -> None:
    # A folder in its place cannot be opened for writing, not even by root.
    getattr(home, shut).mkdir()
    for action in ("status", "stop"):
        ran = here("engine", action)
        assert (ran.code, ran.err) == (0, "")
        assert "No engine is running" in ran.out
    getattr(home, shut).rmdir()


def test_an_engine_that_runs_is_told_of_and_stopped_while_the_settings_are_broken(enlace: Run, home: Home) -> None:
    assert enlace("engine", "start").code == 0
    home.config_file.write_text("engine: {slots: 4\n", encoding="utf-8")
    told, as_json = enlace("engine", "status"), enlace("engine", "status", "--json")
    assert (told.code, "snapshot v0" in told.out, str(home.config_file) in told.err) == (0, True, True)
    assert (as_json.code, json.loads(as_json.out)["running"]) == (0, True)
    stopped = enlace("engine", "stop")
    assert (stopped.code, stopped.err) == (0, "")
    assert not is_locked(home)
