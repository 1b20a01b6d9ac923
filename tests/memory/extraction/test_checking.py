"""What a model claims to have read is believed only where the message itself says it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memory.extraction.checking import Claim, checked
from memory.extraction.patterns import load_patterns

CLAIM = Claim("olives are what I hate", "dislikes", "me", "", "olives")


def test_what_stands_in_the_message_is_believed() -> None:
    message = "Honestly, olives are what I hate."
    found = checked(CLAIM, message, load_patterns())
    assert found is not None
    assert (found.predicate, found.object, found.quote) == ("dislikes", "olives", "olives are what I hate")
    assert message[found.start : found.end] == found.quote


@pytest.mark.parametrize(
    "message",
    [
        "I like olives.",  # other words
        "Honestly, olives are what I hated.",  # nearly the same words
        "They say olives are what I hate.",
        "Do you think olives are what I hate?",
        'He said: "olives are what I hate"',
        "Perhaps olives are what I hate.",
        "Translate this: olives are what I hate.",
        "> olives are what I hate",
        "Olives are what I hate, just kidding",
        "",
    ],
)
def test_what_the_message_does_not_state_is_not_believed(message: str) -> None:
    assert checked(CLAIM, message, load_patterns()) is None


@pytest.mark.parametrize(
    "claim",
    [
        replace(CLAIM, object="anchovies"),
        replace(CLAIM, object="oliv"),
        replace(CLAIM, object=""),
        replace(CLAIM, quote=""),
        replace(CLAIM, predicate="allergy"),
        replace(CLAIM, predicate="phone"),
        replace(CLAIM, about="other", name="Bruno"),
        replace(CLAIM, object="what I"),
    ],
)
def test_what_the_words_do_not_say_is_not_believed(claim: Claim) -> None:
    assert checked(claim, "Honestly, olives are what I hate.", load_patterns()) is None


def test_what_is_said_of_another_is_not_said_of_the_speaker() -> None:
    message = "My sister adores old films."
    of_me = Claim("My sister adores old films", "likes", "me", "", "old films")
    assert checked(of_me, message, load_patterns()) is None
    found = checked(replace(of_me, about="other"), message, load_patterns())
    assert found is not None
    assert found.whom.relation == "sister"


def test_a_denial_is_no_fact() -> None:
    claim = Claim("I never was crazy about old films", "likes", "me", "", "old films")
    assert checked(claim, "I never was crazy about old films.", load_patterns()) is None
