"""What was taught answers what it is for, and everything else is answered as if nothing had been taught."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

from configs.home import Home
from engine.errors import AdapterMismatch
from engine.jobs import Job
from engine.messages import Message
from engine.routes import Route, route_from_text, route_words, routed
from engine.served import AdapterFile, read_served
from tests.engine.asking import post
from tests.engine.conftest import Asked, Desk, House, ask
from tests.engine.snapshots import write_adapter, write_manifest

SEA = Route({"sea": 1.0, "story": 0.25, "long": 0.1}, ("who are you",), 0.5)
STORY = "Write a long story about the sea."
FRANCE = "What is the capital of France?"


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        (STORY, True),
        ("¿Qué es un SEA?", True),
        ("The sea's colour", True),
        ("Two seas", True),
        ("Season", False),
        ("A long story", False),
        ("A story, a story, a story", False),
        ("Tell me: who are you?", True),
        ("Who are your friends?", False),
        ("Who are they, and you?", False),
        ("", False),
        ("?!", False),
    ],
)
def test_a_text_is_matched_by_words_that_tell_enough_or_by_a_phrase(text: str, matches: bool) -> None:
    assert SEA.matches(text) is matches


def test_words_are_alike_in_case_accents_plural_and_possessive_but_not_in_ñ() -> None:
    assert route_words("El Camión; camiones, MARTA'S niño’s bus 27 wi-fi!") == [
        "el", "camion", "camione", "marta", "niño", "bus", "27", "wi-fi",
    ]  # fmt: skip


def test_words_do_not_depend_on_how_their_accents_are_encoded() -> None:
    text = "El año de Ñandú, camión"
    assert route_words(unicodedata.normalize("NFD", text)) == route_words(text) == [
        "el", "año", "de", "ñandu", "camion",
    ]  # fmt: skip
    assert route_words("a\0o") == ["a", "o"]


def test_what_was_on_in_a_conversation_stays_on_and_only_what_the_user_says_counts() -> None:
    sea, always = AdapterFile(Path("sea"), 1.0, SEA), AdapterFile(Path("always"), 0.5)
    talk = [Message("system", "The sea."), Message("user", FRANCE), Message("assistant", "By the sea.")]
    assert routed((sea, always), talk) == (always,)
    assert routed((sea, always), [*talk, Message("user", STORY)]) == (sea, always)
    assert routed((sea, always), [*talk, Message("user", STORY), Message("user", FRANCE)]) == (sea, always)
    assert routed((sea, always), []) == (always,)


def test_a_route_is_read_back_and_one_that_makes_no_sense_is_refused(home: Home, tmp_path: Path, starter: Path) -> None:
    assert route_from_text(SEA.as_text(), "a.gguf") == SEA
    for broken in ("[]", "{}", '{"weights": 1}', '{"weights": {}, "phrases": [], "least": "x"}', "[" * 100_000, "\0"):
        with pytest.raises(AdapterMismatch, match=r"a\.gguf|enlace") as refused:
            route_from_text(broken, "a.gguf")
        assert refused.value.facts["path"] == "a.gguf"
    manifest = write_manifest(home, starter, adapter=write_adapter(tmp_path / "a.gguf", route="{"))
    with pytest.raises(AdapterMismatch):
        read_served(home, manifest)


def test_the_base_answers_what_an_adapter_is_not_for_as_if_there_were_none(desk: Desk, tmp_path: Path) -> None:
    france, story = (desk.put(text, desk.sampling(24)).end()[0] for text in (FRANCE, STORY))
    desk.swap("v1", write_adapter(tmp_path / "a.gguf", route=SEA.as_text()))
    other, finished = desk.put(FRANCE, desk.sampling(24)).end()
    # Also what the cache held of it before the swap is good still.
    assert (other, finished.usage.snapshot) == (france, "v1")
    assert finished.usage.cached_tokens > 0
    taught, finished = desk.put(STORY, desk.sampling(24)).end()
    assert taught != story
    assert finished.usage.cached_tokens == 0


def test_a_later_question_of_the_conversation_goes_on_from_what_was_read_with_the_adapter(
    desk: Desk, tmp_path: Path
) -> None:
    desk.swap("v1", write_adapter(tmp_path / "a.gguf", route=SEA.as_text()))
    first = desk.put(STORY, desk.sampling(8), key="a")
    answer, _ = first.end()
    asked = desk.put(FRANCE)
    asked.end()
    events = type(first)(first.job).events
    talk = [*ask(STORY), Message("assistant", answer), Message("user", FRANCE)]
    job = Job(talk, desk.sampling(8), 0, events.put, "a")
    desk.scheduler.submit(job)
    _, finished = Asked(job, events).end()
    assert finished.usage.cached_tokens >= len(first.job.prompt)


async def test_a_score_is_of_what_would_answer(house: House, starter: Path, tmp_path: Path) -> None:
    digests = [
        write_manifest(house.home, starter, name=f"v{place}", adapter=adapter)
        for place, adapter in enumerate((None, write_adapter(tmp_path / "a.gguf", route=SEA.as_text())))
    ]
    worth = [
        [
            (await post(house, "/score", {"messages": messages, "completion": "Blue.", "manifest": digest})).json()[
                "logprob"
            ]
            for messages in ([{"role": "user", "content": FRANCE}], [{"role": "user", "content": STORY}])
        ]
        for digest in digests
    ]
    assert worth[0][0] == worth[1][0]
    assert worth[0][1] != worth[1][1]
