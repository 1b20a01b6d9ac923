"""Conversations: branches, partial answers, and searching one's own history."""

from __future__ import annotations

import unicodedata
from typing import Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from configs.home import Home
from configs.settings import Settings
from memory.chats import ChatMessage, Chats
from memory.errors import ConversationUnknown, MessageUnknown
from memory.history_search import HistorySearch
from memory.household import Household, MemberMemory
from tests.memory.conftest import TurnedClock
from tests.memory.test_text import AWKWARD


@pytest.fixture
def chats(memory: MemberMemory) -> Chats:
    return memory.chats


def say(chats: Chats, *texts: str) -> list[ChatMessage]:
    conversation = chats.start()
    return [chats.question(conversation.id, text) for text in texts]


def found(chats: Chats, text: str) -> list[str]:
    return [hit.message.content for hit in chats.search(text)]


def test_a_conversation_is_named_after_its_first_question(chats: Chats) -> None:
    (question,) = say(chats, "  ¿Cuánto hierve\n un huevo?  ")
    assert chats.get(question.conversation_id).title == "¿Cuánto hierve un huevo?"


def test_the_last_used_conversation_comes_first(chats: Chats) -> None:
    first, second = (chats.start(title) for title in ("uno", "dos"))
    chats.question(first.id, "otra vez")
    assert [conversation.id for conversation in chats.list()] == [first.id, second.id]
    assert [conversation.id for conversation in chats.list(limit=1, offset=1)] == [second.id]


def test_a_path_follows_the_newest_branch_and_an_older_one_can_be_asked_for(chats: Chats) -> None:
    conversation = chats.start()
    question = chats.question(conversation.id, "¿2+2?")
    wrong = chats.finish_answer(chats.begin_answer(question.id, "v0").id, "5")
    right = chats.finish_answer(chats.begin_answer(question.id, "v0").id, "4")
    after = chats.question(conversation.id, "¿Seguro?", right.id)
    assert chats.path(conversation.id) == [question, right, after]
    assert chats.path(conversation.id, wrong.id) == [question, wrong]
    assert chats.siblings(right.id) == [wrong, right]
    assert chats.newest_leaf(question.id) == after


def test_the_newest_branch_is_the_last_written_one_also_when_the_clock_was_set_back(
    chats: Chats, clock: TurnedClock
) -> None:
    conversation = chats.start()
    question = chats.question(conversation.id, "hola")
    chats.finish_answer(chats.begin_answer(question.id, "v0").id, "uno")
    clock.now -= 86_400
    later = chats.finish_answer(chats.begin_answer(question.id, "v0").id, "dos")
    assert chats.path(conversation.id)[-1] == later


def test_an_edited_first_question_begins_a_branch_at_the_root(chats: Chats) -> None:
    conversation = chats.start()
    first = chats.question(conversation.id, "hola")
    edited = chats.question(conversation.id, "buenas", None)
    assert chats.path(conversation.id) == [edited]
    assert chats.siblings(edited.id) == [first, edited]


def test_a_message_of_another_conversation_cannot_be_followed(chats: Chats) -> None:
    (question,) = say(chats, "hola")
    other = chats.start()
    with pytest.raises(MessageUnknown):
        chats.question(other.id, "¿y?", question.id)
    with pytest.raises(MessageUnknown):
        chats.path(other.id, question.id)


def test_an_answer_is_partial_until_it_is_finished(chats: Chats) -> None:
    (question,) = say(chats, "cuenta")
    answer = chats.begin_answer(question.id, "v3")
    chats.extend_answer(answer.id, "uno, dos")
    assert (chats.message(answer.id).state, chats.message(answer.id).content) == ("partial", "uno, dos")
    finished = chats.finish_answer(answer.id, "uno, dos, tres", "stopped", {"tokens": 3})
    assert (finished.state, finished.content, finished.meta, finished.snapshot) == (
        "stopped",
        "uno, dos, tres",
        {"tokens": 3},
        "v3",
    )
    with pytest.raises(MessageUnknown):
        chats.extend_answer(answer.id, "uno")


def test_a_long_answer_is_kept_whole(chats: Chats) -> None:
    (question,) = say(chats, "escribe mucho")
    answer = chats.begin_answer(question.id, "v0")
    text = "palabra número y otra más. " * 20_000
    for end in range(0, len(text), len(text) // 10):
        chats.extend_answer(answer.id, text[:end])
    chats.finish_answer(answer.id, text)
    assert chats.message(answer.id).content == text
    assert len(chats.search("numero")) == 1


def test_a_deleted_conversation_can_be_restored_until_it_is_purged(chats: Chats) -> None:
    (question,) = say(chats, "el secreto del bizcocho")
    conversation_id = question.conversation_id
    chats.delete(conversation_id)
    assert (chats.list(), found(chats, "bizcocho")) == ([], [])
    assert [conversation.id for conversation in chats.list(deleted=True)] == [conversation_id]
    chats.restore(conversation_id)
    assert found(chats, "bizcocho") == ["el secreto del bizcocho"]
    assert chats.purge(conversation_id) == 0
    chats.delete(conversation_id)
    assert chats.purge(conversation_id) == 1
    with pytest.raises(ConversationUnknown):
        chats.get(conversation_id)
    with pytest.raises(MessageUnknown):
        chats.message(question.id)


def test_purging_takes_the_words_out_of_the_full_text_index(household: Household, chats: Chats, home: Home) -> None:
    (question,) = say(chats, "xilofonista")
    chats.delete(question.conversation_id)
    chats.purge()
    (conversation_id,) = {message.conversation_id for message in say(chats, "otra cosa")}
    # A new message in the row of the old one would be found by the old one's words if they were still there.
    assert [m.content for m in chats.messages(conversation_id)] == ["otra cosa"]
    assert found(chats, "xilofonista") == []


def test_an_answer_finished_after_its_conversation_was_deleted_is_found_when_that_is_restored(chats: Chats) -> None:
    (question,) = say(chats, "hola")
    answer = chats.begin_answer(question.id, "v0")
    chats.delete(question.conversation_id)
    chats.finish_answer(answer.id, "bizcocho")
    assert found(chats, "bizcocho") == []
    chats.restore(question.conversation_id)
    assert found(chats, "bizcocho") == ["bizcocho"]


def test_rating_an_answer_can_be_taken_back(chats: Chats) -> None:
    (question,) = say(chats, "hola")
    answer = chats.finish_answer(chats.begin_answer(question.id, "v0").id, "hola")
    assert chats.rate(answer.id, -1).rating == -1
    assert chats.rate(answer.id, 0).rating == 0


@pytest.mark.parametrize("search", ["nunez", "NUNEZ", "Núñez", unicodedata.normalize("NFD", "Núñez"), "nuñ"])
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_a_name_is_found_however_it_is_written(chats: Chats, search: str, form: Literal["NFC", "NFD"]) -> None:
    say(chats, unicodedata.normalize(form, "llama a la señora Núñez"), "nada")
    (hit,) = chats.search(search)
    assert [hit.snippet[start:end] for start, end in hit.marks] == [unicodedata.normalize(form, "Núñez")]


def test_what_is_written_exactly_comes_before_what_is_alike(chats: Chats) -> None:
    say(chats, "el ano del caballo", "el año del caballo", "anotar", "el ano otra vez")
    assert found(chats, "año")[0] == "el año del caballo"
    assert set(found(chats, "ano")[:2]) == {"el ano del caballo", "el ano otra vez"}
    assert found(chats, "año")[-1] == "anotar"


def test_signs_inside_a_word_count(chats: Chats) -> None:
    say(chats, "la vitamina c es buena", "aprende C++ en casa", "llamó AT&T ayer", "I don't know", "at the t shirt")
    assert found(chats, "C++")[0] == "aprende C++ en casa"
    assert found(chats, "AT&T") == ["llamó AT&T ayer"]
    assert found(chats, "don't") == ["I don't know"]


def test_all_words_are_wanted_before_some(chats: Chats) -> None:
    say(chats, "compra pan", "compra leche", "compra pan y leche")
    assert found(chats, "leche pan") == ["compra pan y leche"]
    assert set(found(chats, "pan caviar")) == {"compra pan", "compra pan y leche"}


@pytest.mark.parametrize("text", AWKWARD)
def test_any_search_is_safe_and_any_message_is_kept_as_it_was_written(chats: Chats, text: str) -> None:
    (question,) = say(chats, text)
    assert chats.message(question.id).content == text.replace("\ud800", "\ufffd")
    chats.search(text)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text())
def test_a_message_comes_back_as_it_went_in(chats: Chats, text: str) -> None:
    (question,) = say(chats, text)
    assert chats.message(question.id).content == text


TOLD = (
    "I just graduated with a degree in Business Administration from Leeds",
    "My dogs love walking along the river",
    "Ayer llevé a Lucía al médico, tiene anginas",
    "We booked the hotel in Lisbon for October 12",
    "aprende C++ en casa",
    "What a nice day it was",
)


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("What degree did I graduate with?", TOLD[0]),
        ("¿qué les gusta a los perros?", TOLD[1]),
        ("what did the doctor say about Lucia?", TOLD[2]),
        ("When is our hotel reservation in Lisbon?", TOLD[3]),
        ("where can I learn C++?", TOLD[4]),
    ],
)
def test_a_question_finds_the_message_that_holds_its_evidence(chats: Chats, question: str, first: str) -> None:
    say(chats, *TOLD, *(f"nada que ver, número {number}" for number in range(40)))
    hits = chats.evidence(question, 5)
    assert hits[0].message.content == first
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert all(0 <= hit.score <= 1 for hit in hits)


def test_evidence_is_found_where_its_words_are_in_very_many_messages(memory: MemberMemory, settings: Settings) -> None:
    few = settings.memory.search.model_copy(update={"postings": 60, "postings_each": 20})
    say(memory.chats, "la llave azul abre el armario", *["la llave roja", "el armario viejo", "algo azul"] * 60)
    search = HistorySearch(memory.chats._database, few)
    assert {match.snippet for match in search.words("llave armario azul", 5)} == {"la llave azul abre el armario"}
    latest = search.evidence("¿qué abre la llave azul?", 3)
    assert latest[0].snippet == "la llave azul abre el armario"


@pytest.mark.parametrize("text", AWKWARD)
def test_an_awkward_question_is_a_question(chats: Chats, text: str) -> None:
    say(chats, text, "algo")
    chats.evidence(text)


def test_new_word_lists_index_the_messages_anew(
    home: Home, settings: Settings, memory: MemberMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(memory.chats, "My dogs love the river")
    memory.chats._database.run("INSERT INTO messages_text (messages_text) VALUES ('delete-all')")
    monkeypatch.setattr("memory.history_index.INDEX_VERSION", "another")
    with Household.open(home, settings.memory) as later:
        assert len(later.member(memory.member.id).chats.evidence("¿y los perros?")) == 1
