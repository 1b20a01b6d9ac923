"""An answer that cannot be put on disk: tried again with every piece, told at the end, never shouted meanwhile."""

from __future__ import annotations

import asyncio

import pytest

from app.assistant.answer_store import AnswerStore
from app.session import Session
from memory.errors import MessageUnknown

EVERY_S = 0.02


async def test_what_keeps_an_answer_off_the_disk_is_told_when_it_is_finished(
    session: Session, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    chats = session.memory.chats
    conversation = chats.start()
    answer = chats.begin_answer(chats.question(conversation.id, "Hi").id, "v0")
    store = AnswerStore(chats, answer.id, EVERY_S)
    chats.delete(conversation.id)
    chats.purge(conversation.id)
    for piece in ("Hel", "lo"):
        store.add(piece)
        await asyncio.sleep(5 * EVERY_S)
    with pytest.raises(MessageUnknown):
        store.finish("complete", {})
    assert (capsys.readouterr().err, caplog.records) == ("", [])
