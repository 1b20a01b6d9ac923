"""What the command says of itself, and of how it was written wrongly: in the reader's language alone."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys

import pytest
import typer

from app.catalogue import Catalogue
from app.commands.usage import words_taken
from configs.home import Home
from scripts.commands_page import root, walk
from tests.app.conftest import TIMEOUT_S, Run
from tests.project import LANGUAGES, ROOT

# What Typer and Click write of their own accord.
ENGLISH = re.compile(r"Usage|Options?\b|Commands?\b|Arguments|Show this|required|default|<\w+>|\bTEXT\b")


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_page_of_help_is_in_one_language_and_as_wide_as_a_small_terminal(
    language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for name, command in walk(root(language), "enlace"):
        page = command.get_help(typer.Context(command, info_name=name))
        assert max(len(line) for line in page.splitlines()) <= 80, page
        assert "..." not in page, page
        assert not re.search(r"\bcommand\.", page), page
        if language == "es":
            assert page.startswith(f"Uso: {name} [OPCIONES]"), page
            assert not ENGLISH.search(page.partition("\n")[2]), page


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_argument_has_a_name_in_the_readers_language(language: str) -> None:
    words = Catalogue(language)
    every = [each for _, command in walk(root()) for each in command.params if each.param_type_name == "argument"]
    named = {each.name for each in every if not words_taken(each)}
    assert sorted(name for name in named if name and not words.has(f"command.page.places.{name}")) == []


def test_where_only_a_few_words_are_taken_they_stand_in_the_line_of_usage(here: Run) -> None:
    assert "Uso: enlace train mine [OPCIONES] [on|off]\n" in here("train", "mine", "--help", lang="es").out
    told = " ".join(here("trainer", "schedule", "--help").out.split())
    assert "enlace trainer schedule [OPTIONS] [install|remove|status]" in told


def test_a_number_is_said_to_be_from_where_to_where_and_what_it_is_where_it_is_left_out(here: Run) -> None:
    told = " ".join(here("ask", "--help", lang="es").out.split())
    assert "--temperature NÚMERO 0 toma siempre la palabra más probable; más alto, más variado. (de 0 a 5)" in told
    assert "--max-tokens NÚMERO La respuesta más larga, en tokens. (1 o más)" in told
    told = " ".join(here("chats", "search", "--help", lang="es").out.split())
    assert "--limit NÚMERO Cuántas se muestran, como mucho. (de 1 a 1000000; 20 si no lo dices)" in told
    assert "hace falta" in here("lessons", "add", "--help", lang="es").out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("modls", "list"), "No existe la orden modls. ¿Querías decir models?"),
        (("train", "nwo"), "No existe la orden nwo. ¿Querías decir now?"),
        (("it's",), "No existe la orden it's."),
        (("ask", "Hola", "--sed", "7"), "No existe la opción --sed. ¿Querías decir --seed?"),
        (("ask", "Hola", "--temperature", "9"), "Lo que has puesto en --temperature no vale. Puede ser de 0 a 5."),
        (("ask", "Hola", "--max-tokens", "0"), "Puede ser 1 o más."),
        (("train", "mine", "quizás"), "Lo que has puesto no vale. Puede ser on, off."),
        (("members", "edit"), "Falta NOMBRE."),
        (("lessons", "add"), "Falta --question."),
    ],
)
def test_a_command_that_is_written_wrongly_is_answered_with_what_was_meant(
    here: Run, arguments: tuple[str, ...], said: str
) -> None:
    ran = here(*arguments, lang="es_ES.UTF-8")
    assert ran.code == 2
    assert said in ran.err.splitlines()[0]


def test_the_version_is_told(here: Run) -> None:
    assert re.fullmatch(r"enlace \d+\.\d+\.\d+\n", here("--version").out)


def test_nothing_is_done_for_whoever_asks_for_the_version(here: Run, home: Home) -> None:
    told = here("--version", "members", "add", "Ana")
    assert (told.code, re.fullmatch(r"enlace \d+\.\d+\.\d+\n", told.out) is not None) == (0, True)
    assert "Ana" not in here("members", "list").out


@pytest.mark.parametrize(("answer", "gone"), [("sí", True), ("S", True), ("y", True), ("no", False), ("\x04", False)])
def test_whoever_is_asked_agrees_in_their_own_language(here: Run, answer: str, gone: bool) -> None:
    here("members", "list")
    here("members", "add", "Ana")
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "app", "members", "remove", "Ana"],
        cwd=ROOT,
        env=os.environ | {"LANG": "es_ES.UTF-8"},
        stdin=theirs,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    )
    os.close(theirs)
    assert process.stderr is not None
    assert process.stderr.readline().decode().endswith("[s/N]\n")
    os.write(ours, f"{answer}\n".encode())
    assert process.wait(TIMEOUT_S) == (0 if gone else 2)
    process.stderr.close()
    os.close(ours)
    assert ("Ana" in here("members", "list").out) is not gone
