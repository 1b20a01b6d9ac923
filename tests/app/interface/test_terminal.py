"""The command in a real terminal: what is typed is asked, the answer streams, and a closed terminal loses nothing."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.session import Session
from app.terminal_text import StreamCleaner
from configs.home import Home
from memory.chats import ChatMessage

ROOT = Path(__file__).resolve().parents[3]
WITHIN = 100.0


class Terminal:
    """A terminal of 120 by 36 with ``enlace`` in it. ``seen`` is the text drawn so far, control sequences left out."""

    def __init__(self, home: Home) -> None:
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 36, 120, 0, 0))
        environ = {**os.environ, "ENLACE_HOME": str(home.root), "LANG": "es_ES.UTF-8", "TERM": "xterm-256color"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "app"],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=ROOT,
            env=environ,
            start_new_session=True,
            preexec_fn=_own_the_terminal,
        )
        os.close(slave)
        self._cleaner = StreamCleaner()
        self._bytes = b""
        self.seen = ""

    def read(self, seconds: float = 0.05) -> None:
        if select.select([self.master], [], [], seconds)[0]:
            try:
                self._bytes += os.read(self.master, 65536)
            except OSError:
                # How Linux says that nobody is at the other end any more.
                return
            whole = self._bytes.decode(errors="ignore")
            self._bytes = b""
            self.seen += self._cleaner.feed(whole)

    def wait_for(self, text: str) -> None:
        deadline = time.monotonic() + WITHIN
        while text not in self.seen:
            assert time.monotonic() < deadline, f"no {text!r} in {self.seen[-2000:]!r}"
            self.read()

    def type(self, text: str) -> None:
        os.write(self.master, text.encode())

    def close(self) -> None:
        """Close the terminal, as a window is closed."""
        os.close(self.master)
        self.master = -1


def _own_the_terminal() -> None:
    # The session's controlling terminal, so that closing it reaches the program as a hang-up.
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


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
    terminal.type("Tell me a long story about the sea.\r")
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
    terminal.type("Tell me a long story about a boat.\r")
    deadline = time.monotonic() + WITHIN
    while not any(answer.content for answer in answers(home)):
        assert time.monotonic() < deadline
        terminal.read()
    terminal.close()
    assert terminal.process.wait(timeout=WITHIN) is not None
    (answer,) = answers(home)
    assert answer.content
    assert answer.state in ("stopped", "partial")
