"""What is told of what was kept, and how it is looked at, taken back and made anew on the command line."""

from __future__ import annotations

import json

import pytest

from app.assistant.events import Done, Remembered
from app.catalogue import Catalogue
from app.remembered import told
from app.session import Session
from tests.app.conftest import Run, drain
from tests.memory.said import say


def test_what_a_question_says_of_its_member_is_told_with_the_answer_once(here: Run, session: Session) -> None:
    (fact,) = say(session.memory, "I'm allergic to nuts.")
    name = session.member.name
    assert told(Remembered((fact,)), Catalogue("en")) == [f"Enlace remembers: {name.capitalize()} is allergic to nuts."]
    assert told(Remembered((), (fact,)), Catalogue("es")) == [
        f"Enlace ya no cuenta con: {name.capitalize()} is allergic to nuts."
    ]


def test_a_fact_is_shown_with_its_words_and_its_history(here: Run, session: Session) -> None:
    say(session.memory, "I live in Leeds")
    say(session.memory, "By the way, I now live in Bristol")
    shown = here("memory", "show", "1").out
    assert "«I now live in Bristol»" in shown
    assert "Leeds" in shown
    found = json.loads(here("memory", "show", "1", "--json").out)
    assert found["evidence"]["title"] == "By the way, I now live in Bristol"
    assert [each["object"] for each in found["history"]] == ["Leeds", "Bristol"]


def test_what_was_so_at_a_day_is_listed(here: Run, session: Session) -> None:
    say(session.memory, "I live in Leeds")
    assert json.loads(here("memory", "list", "--as-of", "2001-01-01", "--json").out) == []
    (fact,) = json.loads(here("memory", "list", "--as-of", "2999-01-01", "--json").out)
    assert fact["object"] == "Leeds"
    assert here("memory", "list", "--as-of", "yesterday").code == 2


def test_the_last_message_is_undone_as_if_it_had_never_been_said(here: Run, session: Session) -> None:
    say(session.memory, "I live in Leeds")
    say(session.memory, "I live in Bristol")
    assert "Bristol" in here("memory", "undo").out
    assert [fact.object for fact in session.memory.facts.list()] == ["Leeds"]
    here("memory", "undo")
    assert "nothing to take back" in here("memory", "undo").out


def test_facts_that_are_made_anew_come_out_the_same(here: Run, session: Session) -> None:
    say(session.memory, "I live in Leeds")
    here("memory", "add", "the bins go out on Thursday")
    before = session.memory.facts.list()
    assert here("memory", "rebuild").out == "There are 2 memories.\n"
    assert session.memory.facts.list() == before


@pytest.mark.timeout(120)
async def test_an_answer_is_followed_by_what_was_kept_of_the_question(talking: Session) -> None:
    events = await drain(talking.assistant().ask("I live in Bristol. What is the capital of France?"))
    *_, remembered, done = events
    assert isinstance(remembered, Remembered)
    assert isinstance(done, Done)
    assert [fact.object for fact in remembered.facts] == ["Bristol"]
    answer = talking.memory.chats.message(done.answer_id)
    assert answer.meta["remembered"] == [fact.id for fact in remembered.facts]
    asked_again = await drain(talking.assistant().retry(remembered.facts[0].source))
    assert not any(isinstance(event, Remembered) for event in asked_again)
    assert len(talking.memory.facts.list()) == 1
