"""From the command, in a home in which nobody has been, to the first question answered, in a real terminal."""

from __future__ import annotations

import time
from statistics import median

from app.catalogue import Catalogue, choose_language
from app.session import Session
from benchmarks.errors import MeasurementFailed
from benchmarks.homes import enlace, temporary_home
from benchmarks.plan import Plan
from benchmarks.pseudo_terminal import Terminal
from benchmarks.rows import Row, row

BOUND_S = 60.0
QUESTION = "What is the capital of France?"
# Somebody who reads what is asked: seconds before each of the four steps is answered, and for typing the question.
READING_S = 4.0


def first_answer(plan: Plan) -> list[Row]:
    """Seconds until a whole answer is stored; with the four steps read, and without."""
    rounds = min(3, plan.interface.start_rounds)
    rushed = [_answered(plan.interface.timeout_s, 0.0) for _ in range(rounds)]
    read = [_answered(plan.interface.timeout_s, READING_S) for _ in range(rounds)]
    return [
        row(
            "from command to first answer, fresh home",
            median(rushed),
            "s",
            bound=BOUND_S,
            bound_on="value",
            samples=rounds,
        ),
        row(
            "the same, by somebody who reads each step",
            median(read),
            "s",
            bound=BOUND_S,
            bound_on="value",
            samples=rounds,
            note=f"{READING_S:.0f} s before each of the four steps and for the question.",
        ),
    ]


def _answered(limit: float, reading: float) -> float:
    with temporary_home() as environment:
        words = Catalogue(choose_language(environ=environment))
        with Terminal(enlace(), environment) as terminal:
            began = time.monotonic()
            for step in ("language", "name", "pin.asked", "model"):
                terminal.wait_for(words.text(f"screen.first.{step}.question"), limit)
                _read_on(terminal, reading)
                terminal.type("\r")
            terminal.wait_for(words.text("screen.status.resting"), limit)
            _read_on(terminal, reading)
            terminal.type(QUESTION + "\r")
            while time.monotonic() - began < limit:
                _read_on(terminal, 0.2)
                if _is_answered(environment):
                    return time.monotonic() - began
    raise MeasurementFailed(f"There was no answer within {limit:.0f} s.")


def _read_on(terminal: Terminal, seconds: float) -> None:
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        terminal.read(left)


def _is_answered(environment: dict[str, str]) -> bool:
    """Whether a whole answer is stored."""
    with Session(environment) as session:
        chats = session.memory.chats
        said = [message for each in chats.list() for message in chats.messages(each.id)]
    return any(message.role == "assistant" and message.state == "complete" for message in said)
