"""Which language the program speaks: a setting counts whenever it is made, for whoever has none of their own."""

from __future__ import annotations

import json
import re

import pytest

from app.session import Session
from configs.home import Home
from tests.app.conftest import Run


def first_head(run: Run, **environment: str) -> str:
    """The first word of a table, as everybody's language is told by it."""
    return run("members", "list", **environment).out.split()[0]


def test_the_setting_counts_in_a_home_that_was_opened_before(here: Run, home: Home) -> None:
    assert first_head(here) == "name"
    home.config_file.write_text("assistant: {language: es}")
    assert first_head(here) == "nombre"
    assert first_head(here, ENLACE_ASSISTANT__LANGUAGE="en") == "name"
    assert "es, el de la casa" in here("members", "list").out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--help",), "el asistente de la casa"),
        (("members", "edit"), "Falta"),
        (("memory", "forget", "1000"), "No encuentro"),
    ],
)
def test_it_counts_for_help_for_wrong_usage_and_for_errors(
    arguments: tuple[str, ...], words: str, here: Run, home: Home
) -> None:
    home.config_file.write_text("assistant: {language: es}")
    ran = here(*arguments)
    assert words in ran.out + ran.err


def test_it_counts_where_another_setting_is_wrong_and_nothing_where_it_is_no_language(here: Run, home: Home) -> None:
    home.config_file.write_text("assistant: {language: es}\nengine: {slots: -1}")
    assert "El ajuste «engine.slots» no vale" in here("members", "list").err
    for unreadable in ("assistant: {language: [es]}", "assistant: es", "assistant: {language: tlh}", "]"):
        home.config_file.write_text(unreadable)
        assert "setting" in here("members", "list").err


def test_a_members_own_language_comes_first_until_they_take_the_households(here: Run, home: Home) -> None:
    here("members", "list")
    here("members", "add", "Ana", "--language", "en")
    here("members", "add", "Leo")
    home.config_file.write_text("assistant: {language: es}")
    assert first_head(here, ENLACE_MEMBER="Ana") == "name"
    assert first_head(here, ENLACE_MEMBER="Leo") == "nombre"
    assert here("members", "edit", "Ana", "--language", "").code == 0
    assert first_head(here, ENLACE_MEMBER="Ana") == "nombre"
    assert [each["language"] for each in json.loads(here("members", "list", "--json").out)] == ["", "", ""]


@pytest.mark.parametrize("journal", [False, True], ids=["closed", "open elsewhere"])
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--help",), "el asistente de la casa"),
        (("members", "edit"), "Falta"),
        (("memory", "forget", "1000"), "No encuentro"),
        (("snapshots", "show", "v99"), "No hay ning"),
        (("members", "edit", "Nadie", "--name", "Otro"), "No hay nadie"),
        (("train", "plan", "/nowhere.yaml"), "No hay ning"),
        (("backup", "verify", "/nowhere.tar"), "/nowhere.tar"),
        (("members", "list"), "nombre"),
    ],
)
def test_one_command_speaks_to_a_member_in_their_own_language_alone_whatever_the_systems_is(
    arguments: tuple[str, ...], words: str, journal: bool, here: Run, home: Home
) -> None:
    here("members", "add", "Ana", "--language", "es")
    with Session({"ENLACE_HOME": str(home.root)}) as other:
        if journal:
            assert other.household.members.list()
        before = sorted(path.name for path in home.root.iterdir())
        ran = here(*arguments, lang="en_GB.UTF-8")
        assert words in ran.out + ran.err
        assert not re.search(r"\b(the|is|with|See|Nobody)\b", ran.out + ran.err), ran
        if arguments in (("--help",), ("members", "edit")):
            assert sorted(path.name for path in home.root.iterdir()) == before


def test_of_a_household_that_cannot_be_read_the_systems_language_is_spoken(here: Run, home: Home) -> None:
    here("members", "add", "Ana", "--language", "es")
    for suffix in ("", "-wal"):
        path = home.family_db.with_name(home.family_db.name + suffix)
        if not suffix or path.exists():
            path.write_bytes(b"nothing of the kind")
    assert "the household" in here("--help", lang="en_GB.UTF-8").out.lower()
