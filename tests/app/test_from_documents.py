"""What the family's documents answer in a conversation: word for word, with where they say it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.assistant.from_documents import from_documents
from app.session import Session
from tests.app.conftest import Run, answer_to

LETTER = "Ana Gil works at Gil Motors Ltd. Ana Gil's email is ana@gil.example.\n"


@pytest.fixture
def letter(here: Run, session: Session, tmp_path: Path) -> Path:
    path = tmp_path / "letter.txt"
    path.write_text(LETTER)
    assert here("documents", "add", str(path)).code == 0
    return path


async def test_a_question_about_somebody_is_answered_by_the_document_that_says_so(
    session: Session, letter: Path
) -> None:
    done = await answer_to(session.assistant(), "Where does Ana Gil work?")
    assert done.text == "Your documents say: Ana Gil works at Gil Motors Ltd [1]."
    (source,) = done.sources
    assert (source.number, source.title) == (1, "letter.txt")
    assert source.url == "line 1: “Ana Gil works at Gil Motors Ltd”"
    stored = session.memory.chats.message(done.answer_id)
    assert stored.meta["sources"] == [{"number": 1, "title": source.title, "url": source.url}]


async def test_what_a_document_said_becomes_no_fact_of_the_family(session: Session, letter: Path) -> None:
    await answer_to(session.assistant(), "What is Ana Gil's email?")
    assert session.memory.facts.list() == []


@pytest.mark.parametrize(
    "question",
    [
        "What shall I give Ana Gil for her new job?",
        "Write a poem about where Ana Gil works",
        "Where do dogs work?",
        "Where does Ana work?" + " please" * 40,
    ],
)
def test_a_question_for_something_else_is_none_for_the_documents(session: Session, letter: Path, question: str) -> None:
    assert from_documents(session.assistant()._parts, question) is None


def test_another_member_is_told_nothing_of_it(here: Run, session: Session, letter: Path) -> None:
    session.household.members.add("Bruno", "en")
    assert json.loads(here("graph", "query", "--json", "--member", "Bruno").out) == []
    bruno = session.as_member("Bruno")
    assert bruno.memory.papers.recall.about("Where does Ana Gil work?", 5) == []
