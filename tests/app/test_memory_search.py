"""``enlace memory search`` and ``enlace chats search``: facts, and the messages that are evidence for a question."""

from __future__ import annotations

import json

from app.session import Session
from configs.home import Home
from tests.app.conftest import Run


def test_a_question_finds_the_messages_that_hold_its_evidence_and_what_is_remembered(here: Run, home: Home) -> None:
    with Session({"ENLACE_HOME": str(home.root)}) as session:
        chats = session.memory.chats
        conversation = chats.start("Viaje")
        evidence = chats.question(conversation.id, "We booked the hotel in Lisbon for October 12")
        for number in range(30):
            chats.question(conversation.id, f"otra cosa, número {number}")
    here("memory", "add", "The hotel in Lisbon has a pool")
    found = json.loads(here("memory", "search", "When is our hotel reservation in Lisbon?", "--json").out)
    messages = [each for each in found if each["kind"] == "message"]
    assert (messages[0]["id"], messages[0]["role"]) == (evidence.id, "user")
    assert messages[0]["conversation"] == conversation.id
    assert "Lisbon" in messages[0]["snippet"]
    assert {each["text"] for each in found if each["kind"] == "fact"} == {"The hotel in Lisbon has a pool"}
    assert [each["score"] for each in found] == sorted((each["score"] for each in found), reverse=True)
    table = here("memory", "search", "Lisbon hotel").out
    assert "October 12" in table
    assert "remembered" in table

    (first, *_) = json.loads(here("chats", "search", "¿cuándo es la reserva del hotel de Lisboa?", "--json").out)
    assert (first["id"], 0 < first["score"] <= 1) == (evidence.id, True)
    assert json.loads(here("memory", "search", "NEAR(", "--limit", "1", "--json").out) == []
