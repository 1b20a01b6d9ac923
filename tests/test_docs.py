"""The documents are true: every command and setting is in them, every link leads somewhere, both languages agree."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from app.interface.actions import ACTIONS
from scripts import commands_page, settings_page
from tests.project import LANGUAGES, ROOT, catalogue, console_lines, project_files

COMMANDS = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
READMES = ("README.md", "README.es.md")
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def test_the_page_of_commands_is_what_the_commands_say() -> None:
    assert commands_page.page() == COMMANDS, "run: make pages"


def test_every_command_says_what_it_does() -> None:
    silent = re.findall(r"^##+ `(.*)`\n\n", COMMANDS, re.MULTILINE)
    assert silent == []


def test_every_argument_and_option_says_what_it_does() -> None:
    assert re.findall(r"^\| `(.*)` \|  \|$", COMMANDS, re.MULTILINE) == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_help_text_is_in_words_and_no_key_is_shown(language: str) -> None:
    assert re.findall(r"\bcommand\.[a-z_.]+", commands_page.page(language)) == []


def test_the_page_of_settings_is_what_the_settings_say() -> None:
    assert settings_page.PAGE.read_text(encoding="utf-8") == settings_page.page(), "run: make pages"


def test_both_readmes_have_the_same_commands_in_the_same_order() -> None:
    english, spanish = (console_lines(name) for name in READMES)
    assert english == spanish
    assert len(english) >= 10


def test_both_readmes_have_the_same_parts() -> None:
    english, spanish = ((ROOT / name).read_text(encoding="utf-8") for name in READMES)
    for part in (r"^## ", r"^\| ", r"^- ", r"^!\[", r"^```"):
        assert len(re.findall(part, english, re.MULTILINE)) == len(re.findall(part, spanish, re.MULTILINE)), part


@pytest.mark.parametrize(("page", "language"), zip(READMES, ("en", "es"), strict=True))
def test_the_keys_in_a_readme_are_those_of_the_screen(page: str, language: str) -> None:
    texts = catalogue(language)
    said = re.findall(
        r"^\| (F\d+|Ctrl\+[A-IK-Z]|Esc) \| (.+) \|$", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE
    )
    told = {action.label: texts[f"screen.action.{action.name}"] for action in ACTIONS}
    assert dict(said).items() <= told.items()
    assert {f"F{number}" for number in range(1, 11)} <= dict(said).keys()


@pytest.mark.parametrize("page", [*READMES, *sorted(str(p.relative_to(ROOT)) for p in (ROOT / "docs").rglob("*.md"))])
def test_every_link_to_a_file_leads_somewhere(page: str) -> None:
    path = ROOT / page
    links = [link for link in LINK.findall(path.read_text(encoding="utf-8")) if "://" not in link]
    assert [link for link in links if not (path.parent / link).exists()] == []


def test_every_file_that_a_page_names_exists() -> None:
    named = re.compile(
        r"`((?:app|configs|engine|memory|scripts|tests|tools|trainer|docs)/[\w/.-]+\.(?:py|md|yaml|toml))`"
    )
    pages = [path for path in project_files(".md") if path.name != "CHANGELOG.md"]
    missing = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in pages
        for name in named.findall(path.read_text(encoding="utf-8"))
        if not (ROOT / name).exists()
    ]
    assert missing == []


def test_every_enlace_command_in_a_page_exists() -> None:
    known = set(re.findall(r"^##+ `(enlace(?: [a-z]+)*)", COMMANDS, re.MULTILINE))
    unknown = []
    for path in project_files(".md"):
        for line in re.findall(r"(?:`|\$ )(enlace [a-z][^`\n]*)", path.read_text(encoding="utf-8")):
            words = [word for word in line.split()[1:3] if re.fullmatch(r"[a-z]+", word)]
            names = {"enlace " + " ".join(words[:length]) for length in range(1, len(words) + 1)}
            if words and not names & known:
                unknown.append(f"{path.relative_to(ROOT)}: {line}")
    assert unknown == []


def test_every_decision_is_listed_in_the_index_of_decisions() -> None:
    index = (ROOT / "docs" / "decisions" / "README.md").read_text(encoding="utf-8")
    pages = {path.name for path in (ROOT / "docs" / "decisions").glob("*.md")} - {"README.md"}
    assert pages == {Path(link).name for link in LINK.findall(index)}
