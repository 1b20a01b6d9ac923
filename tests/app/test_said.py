"""Where an answer has said what was taught, it ends: the function, and a turn on the real engine."""

from __future__ import annotations

import dataclasses
import json

import pytest

from app.assistant.grounding import Grounding
from app.assistant.said import TaughtEnd
from app.session import Session
from engine.answers import Sampling
from tests.app.conftest import drain, ending

PIN = "El PIN es 4821."
TOBY = "Our dog is called Toby."


@pytest.mark.parametrize(
    ("taught", "answer", "kept"),
    [
        (PIN, "El PIN es 4821. El PIN es 4821. El PIN es", "El PIN es 4821."),
        (PIN, "El PIN es 4821.\n\nNo lo digas.", "El PIN es 4821."),
        (PIN, "¡Claro! El pin es 4821. Y más", "¡Claro! El pin es 4821."),
        (PIN, "**El PIN es 4821.** Y más", "**El PIN es 4821.**"),
        (PIN, "El PIN es 4821! Y más", "El PIN es 4821!"),
        (PIN, "El PIN es 4821\nEl PIN", "El PIN es 4821"),
        ("El PIN es 4821", "El PIN es 4821. El PIN", "El PIN es 4821."),
        ("Toby", "Our dog is called Toby. He is", "Our dog is called Toby."),
        ("Se llama Nu\u0301n\u0303ez.", "Se llama Núñez. Se llama", "Se llama Núñez."),
        ("Toby 🐶", "It is Toby 🐶\nIt is", "It is Toby 🐶"),
        ("Two. And three!", "Two. And three! Four", "Two. And three!"),
        # What may go on, or says something else.
        (PIN, "El PIN es 4821.", None),
        (PIN, "El PIN es 4821.5 ", None),
        (PIN, "El PIN es 48215. Y", None),
        (PIN, "El PIN es 4821, y la clave es otra. Y", None),
        (PIN, "El PIN no es 4821. Y", None),
        ("No", "There is no such thing. And", None),
        ("Ana", "A banana. And", None),
        (TOBY, "It is Toby. He is", None),
        ("It is xK9-bLue-77.", "It is xK9-bLUE-77. It", None),
        ("…", "… and … ", None),
    ],
)
@pytest.mark.parametrize("size", [1, 3, 200])
def test_an_answer_has_said_it_where_its_words_end_a_sentence(
    taught: str, answer: str, kept: str | None, size: int
) -> None:
    until = TaughtEnd(taught, Grounding(taught, "", 0.6))
    ends = [until(answer[:length]) for length in [*range(size, len(answer), size), len(answer)]]
    found = next((answer[:end] for end in ends if end is not None), None)
    assert found == kept


def test_a_long_answer_that_never_says_it_is_looked_through_once() -> None:
    until, answer = TaughtEnd(TOBY, Grounding(TOBY, "", 0.6)), ""
    for _ in range(3000):
        answer += "Our dog is called "
        assert until(answer) is None
    assert until(answer + "Toby. ") == len(answer) + len("Toby.")


@pytest.mark.timeout(120)
async def test_an_answer_ends_where_it_has_said_what_was_taught(talking: Session) -> None:
    talking.memory.lessons.add([{"role": "user", "content": "¿Cuál es el PIN de la alarma?"}], PIN)
    # Held to saying it over and over, as the model does by itself at some questions.
    sampling = dataclasses.replace(
        Sampling.defaults(talking.settings.engine.sampling),
        grammar=f"root ::= {json.dumps(PIN + ' ')}+",
        max_tokens=200,
    )
    done = ending(await drain(talking.assistant().ask("¿Cuál es el PIN de la alarma?", sampling=sampling)))
    assert done.text == PIN
    assert done.lessons_used == 1
    assert done.usage is not None
    assert done.usage.answer_tokens < 40
    stored = talking.memory.chats.message(done.answer_id)
    assert (stored.state, stored.content, stored.snapshot) == ("complete", PIN, "v0")
    assert (stored.meta["ended"], stored.meta["written_by"]) == ("stop", "model")


@pytest.mark.timeout(120)
async def test_an_answer_without_memory_ends_where_it_would(talking: Session) -> None:
    talking.memory.lessons.add([{"role": "user", "content": "¿Cuál es el PIN de la alarma?"}], PIN)
    said = "El PIN es 4821. El PIN es 4821."
    sampling = dataclasses.replace(
        Sampling.defaults(talking.settings.engine.sampling), grammar=f"root ::= {json.dumps(said)}"
    )
    asked = talking.assistant().ask("¿Cuál es el PIN de la alarma?", sampling=sampling, memory=False)
    assert ending(await drain(asked)).text == said
