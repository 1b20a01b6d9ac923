"""Which language the program speaks: a setting counts whenever it is made, for whoever has none of their own."""

from __future__ import annotations

import json

import pytest

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
        (("members", "rename"), "Falta"),
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
    assert here("members", "rename", "Ana", "Ana", "--language", "").code == 0
    assert first_head(here, ENLACE_MEMBER="Ana") == "nombre"
    assert [each["language"] for each in json.loads(here("members", "list", "--json").out)] == ["", "", ""]
