"""Words of one meaning, in either language."""

from __future__ import annotations

from memory.wording import alike


def test_a_word_stands_for_all_that_are_listed_as_the_same_thing() -> None:
    assert {"rubbish", "trash", "basura"} <= set(alike("Rubbish"))
    assert alike("niña") == alike("children")


def test_what_is_said_of_any_thing_or_is_not_listed_stands_for_itself() -> None:
    for word in ("name", "day", "our", "Marta", "Lucas", "nispero", "take", ""):
        assert alike(word) == (word,)
