"""``enlace lessons add``: what is there already is not learned again."""

from __future__ import annotations

import json

from tests.app.conftest import Run


def test_the_very_same_lesson_is_there_already_until_another_answer_takes_its_place(here: Run) -> None:
    def add(question: str, chosen: str, *further: str) -> str:
        return here("lessons", "add", "--question", question, "--chosen", chosen, *further).out.split(":")[0]

    learned, alone, known = "Learned, for the whole household", "Learned, for you alone", "There already"
    assert add("What is our dog called?", "Toby.") == learned
    assert add("what is our dog called", "Toby.") == known
    assert add("What is our dog called?", "Toby.", "--rejected", "Max.") == learned
    assert add("What is our dog called?", "Toby.", "--private") == alone
    assert add("What is our dog called?", "Rex.") == learned
    assert add("What is our dog called?", "Toby.") == learned
    assert add("What is our dog called?", "Toby.", "--private") == alone
    assert add("What is our dog called?", "Toby.", "--private") == add("What is our dog called?", "Toby.") == known
    assert add("Who is it?", "Leo.") == learned
    assert add("Who is it?", "Leo.", "--private") == alone
    assert add("What is our dog called?", "Toby.") == known
    assert add("???", "A dog.") == add("!!!", "A dog.") == learned
    assert len(json.loads(here("lessons", "list", "--json").out)) == 10
    here("lessons", "withdraw", "3")
    assert add("Who is it?", "Leo.", "--private") == alone


def test_a_withdrawn_lesson_is_not_withdrawn_again_nor_shared(here: Run) -> None:
    here("lessons", "add", "--question", "What is it?", "--chosen", "A lamp.", "--private")
    assert "Withdrawn: What is it?" in here("lessons", "withdraw", "1").out
    assert "It was withdrawn already: What is it?" in here("lessons", "withdraw", "1").out
    refused = here("lessons", "share", "1")
    assert (refused.code, "enlace lessons restore" in refused.err) == (2, True)
    assert here("lessons", "restore", "1").code == 0
    assert "Shared with the household" in here("lessons", "share", "1").out
