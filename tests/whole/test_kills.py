"""kill -9 at random moments: of the engine, of whoever asks, of the training."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from collections.abc import Callable
from typing import Any

import psutil
import pytest

from configs.home import Home
from tests.app.interface.terminal import Terminal
from tests.whole.household import LESSONS, enlace, enlace_json, start

KILLS = 10
QUESTION = "Tell me about the sea, question number {}."


def messages() -> list[dict[str, Any]]:
    """Every message of every conversation that the household has."""
    found = []
    for chat in enlace_json("chats", "list"):
        found += enlace_json("chats", "show", chat["id"])["messages"]
    return found


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_no_question_is_lost_when_the_engine_is_killed(home: Home) -> None:
    moments = random.Random(1)
    enlace("engine", "start")
    for number in range(KILLS):
        asking = start("ask", QUESTION.format(number), "--max-tokens", "300", "--json")
        time.sleep(0.3 + moments.random() * 2)
        status = enlace_json("engine", "status")
        if status.get("pid"):
            kill(status["pid"])
        asking.communicate(timeout=60)
        assert asking.returncode in (0, 1)
        assert "Traceback" not in (asking.stderr.read() if asking.stderr and not asking.stderr.closed else "")
    asked = {message["content"] for message in messages() if message["role"] == "user"}
    assert asked == {QUESTION.format(number) for number in range(KILLS)}
    assert enlace_json("ask", "What is the capital of France?")["state"] == "complete"


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_no_question_or_finished_sentence_is_lost_when_the_screen_is_killed(home: Home) -> None:
    moments = random.Random(4)
    enlace("engine", "start")
    written_for = {}
    for number in range(KILLS):
        question = QUESTION.format(number)
        terminal = Terminal(home)
        terminal.wait_for("entrenador en reposo")
        terminal.type(question + "\r")
        terminal.wait_for("Enlace · v0")  # the head of the answer: the question is stored
        written_for[question] = moments.random() * 3
        until = time.monotonic() + written_for[question]
        while time.monotonic() < until:
            terminal.read()
        terminal.process.kill()
        terminal.process.wait()
        terminal.close()
    kept = messages()
    asked = {message["id"]: message["content"] for message in kept if message["role"] == "user"}
    assert set(asked.values()) == set(written_for)
    for answer in (message for message in kept if message["role"] == "assistant"):
        assert answer["state"] in ("partial", "complete")
        # An answer is stored at least once a second, from its first words on.
        assert answer["content"] or written_for[asked[answer["parent_id"]]] < 2
    assert enlace_json("ask", "What is the capital of France?")["state"] == "complete"


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_no_question_or_finished_sentence_is_lost_when_whoever_asks_is_killed(home: Home) -> None:
    moments = random.Random(2)
    enlace("engine", "start")
    stored = set()
    for number in range(KILLS):
        asking = start("ask", QUESTION.format(number), "--max-tokens", "300")
        assert asking.stdout is not None
        first = asking.stdout.read(1)  # the question is stored before the first word comes
        assert first
        stored.add(QUESTION.format(number))
        time.sleep(moments.random() * 2)
        asking.kill()
        asking.communicate()
    kept = messages()
    assert {message["content"] for message in kept if message["role"] == "user"} == stored
    answers = [message for message in kept if message["role"] == "assistant"]
    assert len(answers) == KILLS
    assert {answer["state"] for answer in answers} <= {"partial", "complete"}
    assert enlace_json("ask", "What is the capital of France?")["state"] == "complete"


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_a_killed_training_leaves_nothing_half_written(home: Home) -> None:
    moments = random.Random(3)
    enlace("lessons", "import", str(LESSONS))
    for number in range(2 * KILLS):  # ten times the worker, ten times its supervisor
        training = start("train", "now")
        wait_for(lambda: bool(trainer_processes(home, "trainer")))
        time.sleep(0.5 + moments.random() * 12)
        processes = trainer_processes(home, "trainer.worker") if number % 2 else trainer_processes(home, "trainer")
        for process in processes[:1]:
            process.kill()
        training.communicate(timeout=120)
        assert training.returncode == 1
        wait_for(lambda: not trainer_processes(home, "trainer"))
        assert enlace_json("train", "status")["state"] in ("failed", "stopped")
    snapshots = enlace_json("snapshots", "list")
    assert [snapshot["id"] for snapshot in snapshots] == ["v0"]
    assert enlace_json("ask", "What is the capital of France?")["state"] == "complete"


def trainer_processes(home: Home, module: str) -> list[psutil.Process]:
    """The living processes of the training in ``home`` that run ``module`` or a module inside it."""
    found = []
    for process in psutil.process_iter():
        try:
            line = process.cmdline()
            ours = process.environ().get("ENLACE_HOME") == str(home.root) and process.status() != psutil.STATUS_ZOMBIE
        except psutil.Error:
            continue
        if ours and "-m" in line and line[line.index("-m") + 1].startswith(module):
            found.append(process)
    return found


def wait_for(condition: Callable[[], bool], seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise subprocess.TimeoutExpired("waiting", seconds)
        time.sleep(0.05)
