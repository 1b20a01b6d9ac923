"""An answer that cannot be put on disk: tried again with every piece, told at the end, never shouted meanwhile."""

from __future__ import annotations

import asyncio

import pytest

from app.assistant.answer_store import AnswerStore
from app.assistant.events import Failed
from app.session import Session
from memory.chats import ChatMessage
from memory.errors import DiskFull, MessageUnknown
from tests.app.conftest import drain

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


async def test_an_answer_that_cannot_be_begun_ends_the_turn_and_the_question_is_kept(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    chats = session.memory.chats

    def full(*_: object) -> ChatMessage:
        raise DiskFull(path="/somewhere")

    assistant = session.assistant()
    monkeypatch.setattr(chats, "begin_answer", full)
    (failed,) = await drain(assistant.ask("Where do otters sleep?"))
    assert isinstance(failed, Failed)
    assert isinstance(failed.error, DiskFull)
    (conversation,) = chats.list()
    assert [message.content for message in chats.path(conversation.id)] == ["Where do otters sleep?"]
