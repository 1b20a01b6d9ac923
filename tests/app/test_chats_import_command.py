"""``enlace chats import`` and ``export``: what a person types, and what they are told."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from configs.home import Home
from tests.app.conftest import Run
from tests.memory.imports.exports_of_others import chatgpt, claude, open_webui
from tests.project import ROOT


def written(path: Path, content: object) -> str:
    path.write_text(json.dumps(content), encoding="utf-8")
    return str(path)


def test_an_import_says_what_came_and_what_stayed_behind(here: Run, tmp_path: Path) -> None:
    file = written(tmp_path / "export.json", [chatgpt(), claude(), {**claude("vacía"), "chat_messages": []}])
    ran = here("chats", "import", file)
    assert ran.code == 0, ran.err
    assert "2 conversations imported, for you alone; new messages: 5" in ran.out
    assert "In 1 nobody had said anything" in ran.err
    assert "4 messages that were not shown there are passed over" in ran.err
    assert "Of 2 attachments the names are kept" in ran.err
    again = here("chats", "import", file)
    assert "0 conversations imported" in again.out
    assert "2 were there already, unchanged" in again.out
    told = json.loads(here("chats", "import", written(tmp_path / "more.json", [open_webui()]), "--json").out)
    assert (told["conversations"], told["messages"], told["origins"]) == (1, 3, {"open_webui": 1})


def test_what_was_imported_is_listed_shown_and_found(here: Run, tmp_path: Path) -> None:
    here("chats", "import", written(tmp_path / "export.json", [chatgpt()]))
    assert [chat["title"] for chat in json.loads(here("chats", "list", "--json").out)] == ["Huevos"]
    assert "gpt-4o" in here("chats", "show", "1").out
    (hit,) = json.loads(here("chats", "search", "cuanto hierve", "--json").out)
    assert hit["role"] == "user"


def test_a_bad_entry_is_told_with_its_place_and_left_out_where_a_file_is_named(here: Run, tmp_path: Path) -> None:
    file = written(tmp_path / "export.json", [chatgpt(), {"hello": 1}])
    refused = here("chats", "import", file)
    assert refused.code == 1
    assert "export.json, conversation 2 (byte " in refused.err
    assert "no conversation of any program that I know" in refused.err
    assert "An entry of" in refused.err
    assert json.loads(here("chats", "list", "--json").out) == []
    kept = here("chats", "import", file, "--skip-bad", str(tmp_path / "bad"))
    assert (kept.code, "1 is left out" in kept.err) == (0, True)
    assert json.loads((tmp_path / "bad").read_text(encoding="utf-8")) == {"hello": 1}
    spanish = here("chats", "import", file, lang="es_ES.UTF-8")
    assert "no es una conversación de ningún programa" in spanish.err


def test_what_is_exported_comes_back_in_another_home(here: Run, tmp_path: Path) -> None:
    here("chats", "import", written(tmp_path / "export.json", [chatgpt(), open_webui()]))
    assert here("chats", "export", "--jsonl", "-o", str(tmp_path / "own.jsonl")).code == 0
    elsewhere = {"ENLACE_HOME": str(tmp_path / "other home")}
    assert "2 conversations imported" in here("chats", "import", str(tmp_path / "own.jsonl"), **elsewhere).out
    first, second = (here("chats", "export", "--json", **home).out for home in ({}, elsewhere))
    assert json.loads(first) == json.loads(second)
    assert here("chats", "export", "--jsonl", "--json").code == 2


def test_a_page_has_every_branch(here: Run, tmp_path: Path) -> None:
    here("chats", "import", written(tmp_path / "export.json", [open_webui()]))
    page = here("chats", "export").out
    assert page.index("\n4\n") < page.index('Another branch, after "¿2+2?"') < page.index("\n5\n")


def test_an_export_is_not_written_over_a_file_that_is_there(here: Run, tmp_path: Path) -> None:
    (tmp_path / "mine.md").write_text("mine", encoding="utf-8")
    ran = here("chats", "export", "-o", str(tmp_path / "mine.md"))
    assert (ran.code, (tmp_path / "mine.md").read_text(encoding="utf-8")) == (2, "mine")


def test_a_large_export_is_taken_without_being_held_in_memory(home: Home, tmp_path: Path) -> None:
    path, page = tmp_path / "large.json", "lorem ipsum dolor " * 6000
    with path.open("w", encoding="utf-8") as file:
        for number in range(120):
            export = chatgpt(f"n{number}")
            export["mapping"]["tool"]["message"]["content"]["parts"] = [page]
            file.write(("," if number else "[") + json.dumps(export))
        file.write("]")
    assert path.stat().st_size > 12_000_000
    small = written(tmp_path / "small.json", [chatgpt()])
    assert peak_kb(str(path)) - peak_kb(small) < 6_000


def peak_kb(file: str) -> int:
    """The most memory that importing a file takes, in a process of its own."""
    program = (
        "import resource, sys; from app.command import run; code = run(['chats', 'import', sys.argv[1]]);"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, code, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, file], cwd=ROOT, capture_output=True, encoding="utf-8", check=True
    )
    most, code = map(int, done.stderr.split()[-2:])
    assert code == 0
    return most
