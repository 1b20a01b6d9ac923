"""The command in a real terminal: what is typed is asked, the answer streams, and a closed terminal loses nothing."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator

import pytest

from app.session import Session
from configs.home import Home
from memory.chats import ChatMessage
from tests.app.interface.terminal import WITHIN, Terminal


@pytest.fixture
def terminal(home: Home) -> Iterator[Terminal]:
    opened = Terminal(home)
    yield opened
    if opened.process.poll() is None:
        opened.process.send_signal(signal.SIGKILL)
        opened.process.wait()
    if opened.master >= 0:
        opened.close()


def answers(home: Home) -> list[ChatMessage]:
    with Session({"ENLACE_HOME": str(home.root)}) as session:
        chats = session.memory.chats
        found = [message for conversation in chats.list() for message in chats.messages(conversation.id)]
    return [message for message in found if message.role == "assistant"]


def test_a_typed_question_is_answered_bit_by_bit_and_ctrl_q_leaves(terminal: Terminal, home: Home) -> None:
    terminal.wait_for("entrenador en reposo")
    terminal.type("Tell me a very long story about the sea.\r")
    deadline = time.monotonic() + WITHIN
    while not any(answer.content.split() for answer in answers(home)):
        assert time.monotonic() < deadline
        terminal.read()
    (answer,) = answers(home)
    terminal.wait_for(answer.content.split()[0])
    # Its beginning was drawn while it was still being written.
    assert answers(home)[0].state == "partial"
    terminal.type("\x11")
    while terminal.process.poll() is None:
        assert time.monotonic() < deadline
        terminal.read()
    assert terminal.process.returncode == 0


def test_closing_the_terminal_mid_answer_keeps_what_there_was(terminal: Terminal, home: Home) -> None:
    terminal.wait_for("entrenador en reposo")
    terminal.type("Tell me a very long story about the sea.\r")
    deadline = time.monotonic() + WITHIN
    while not any(answer.content for answer in answers(home)):
        assert time.monotonic() < deadline
        terminal.read()
    terminal.close()
    assert terminal.process.wait(timeout=WITHIN) is not None
    (answer,) = answers(home)
    assert answer.content
    assert answer.state in ("stopped", "partial")
