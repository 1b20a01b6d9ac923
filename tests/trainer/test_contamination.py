"""What was trained is found again in what is measured: a question as a whole, a longer text by runs of words."""

from __future__ import annotations

from collections.abc import Sequence

from trainer.contamination import GRAM, Trained
from trainer.packing import Item

CLOSING = tuple(b"<end>\nassistant")
PROSE = " ".join(f"word{number}" for number in range(40))


def prompt(question: str) -> tuple[int, ...]:
    return (*f"system: be brief\nuser\n{question}".encode(), *CLOSING)


def text_of(tokens: Sequence[int]) -> str:
    return bytes(tokens).decode()


def trained(*pairs: tuple[str, str]) -> Trained:
    return Trained([Item(prompt(question), tuple(answer.encode())) for question, answer in pairs], text_of, CLOSING)


def test_a_question_that_was_trained_is_found_whatever_its_case_accents_or_beginning() -> None:
    found = trained(("What is gravity?", "A force."), ("Dime, ¿cómo está el río?", "Bien."))
    assert found.overlaps("what is GRAVITY") == (1, 1)
    assert found.overlaps("¿Como esta el rio?") == (1, 1)
    assert found.overlaps("What is an echo?") == (0, 1)
    assert found.overlaps("Tell me again: what is gravity?") == (0, 1)
    assert found.overlaps("A force.") == (0, 1)


def test_of_a_longer_text_every_run_of_thirteen_words_counts() -> None:
    words = PROSE.split()
    found = trained(("Read it to me.", " ".join(words[:20])))
    assert found.overlaps(PROSE) == (20 - GRAM + 1, len(words) - GRAM + 1)
    assert found.overlaps(" ".join(words[20:])) == (0, 20 - GRAM + 1)


def test_what_is_asked_in_a_prompt_counts_as_what_is_answered_does() -> None:
    assert trained((PROSE, "Yes.")).overlaps(PROSE) == (40 - GRAM + 1, 40 - GRAM + 1)


def test_a_prompt_is_known_token_for_token() -> None:
    found = trained(("What is gravity?", "A force."))
    assert found.has(prompt("What is gravity?"))
    assert not found.has(prompt("what is gravity?"))
