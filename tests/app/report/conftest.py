"""Runs as a trainer leaves them behind: one that came to its verdict, and the beginnings of others."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from app.session import Session
from memory.runlog import RunEvent, append
from memory.runs import Run, State

STEPS = 40
CHECKS = [
    {"name": "lessons_right", "value": 0.5, "bound": 0.8, "at_least": True, "ok": False},
    {"name": "unrelated_kl", "value": 0.03, "bound": 0.15, "at_least": False, "ok": True},
    {"name": "parity_kl", "value": None, "bound": 0.02, "at_least": False, "ok": False},
]


def answer(question: str, said: str, *, right: bool, held_out: bool = False) -> dict[str, Any]:
    return {
        "lesson": "l1", "held_out": held_out, "question": question,
        "before": "I do not know.", "before_right": False, "after": said, "after_right": right,
    }  # fmt: skip


ANSWERS = [
    answer("What is our dog called?", "Toby.", right=True),
    answer("How is the dog named?", "Rex.", right=False, held_out=True),
]


class Runs:
    """Makes runs in a session's home."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def begun(self) -> Run:
        """A run that has just begun."""
        run = self.session.household.runs.create("lessons")
        (self.session.home.runs / run.id).mkdir()
        self.tell(run, "run_started", run=run.id, recipe="family", who="Ana")
        return run

    def tell(self, whose: Run, kind: str, stage: str = "", **facts: Any) -> None:
        append(self.session.home.runs / whose.id, RunEvent(1.0, kind, stage, None, facts))

    def step(self, run: Run, number: int, likelihood: float, **more: Any) -> None:
        facts = {"step": number, "steps": STEPS, "epoch": 1, "loss": likelihood + 0.1, "likelihood": likelihood}
        self.tell(run, "step", "train", **facts | {"replay": 0.1, "learning_rate": 1e-4} | more)

    def trained(self) -> Run:
        """A run that has prepared and taken its steps."""
        run = self.begun()
        self.tell(run, "reckoned", flops=1e12, seconds=300.0, joules=4500.0, measured=True, drawn=False)
        self.tell(run, "stage_started", "prepare")
        self.tell(run, "measure", "prepare", name="lesson_dropped", id="l2", reason="too_long", question="A saga?")
        self.tell(run, "stage_done", "prepare", seconds=61.4, peak_bytes=500_000_000)
        self.tell(run, "stage_started", "train")
        for number in range(1, STEPS + 1):
            self.step(run, number, 2.0 / number)
        facts = {"tokens": 12345, "tokens_per_second": 80.4}
        self.tell(run, "stage_done", "train", seconds=1400.0, peak_bytes=2_500_000_000, **facts)
        self.took(run, "stage_took", "train", seconds=200.0, paused=1200.0, joules=3600.0)
        return run

    def took(
        self, run: Run, kind: str, stage: str = "", *, joules: float, estimated: float = 0.0, **facts: Any
    ) -> None:
        """What a stage, or all of it, has taken."""
        energy = {"joules": joules, "estimated": estimated, "sources": ["rapl"]}
        self.tell(run, kind, stage, energy=energy, **facts)

    def judged(self, answers: list[dict[str, Any]] = ANSWERS) -> Run:
        """A run that the gate has held."""
        run = self.trained()
        self.tell(run, "measure", "evaluate", name="lessons_right", value=0.5, before=0.25)
        folder = self.session.home.runs / run.id / "evaluate"
        folder.mkdir()
        (folder / "measures.json").write_text(json.dumps({"answers": answers}))
        self.took(run, "took", seconds=270.0, paused=1200.0, joules=4716.0, estimated=900.0)
        self.tell(run, "verdict", decision="HOLD", checks=CHECKS, reasons=["lessons_right", "parity_kl_missing"])
        return self.ended(run, "held")

    def searched(self) -> Run:
        """A run that compared three trainings, of which the second was chosen and the third broke."""
        run = self.begun()
        for rate, best, more in (
            (1e-4, True, {"right": 0.5, "nats": 1.25, "unrelated_kl": 0.02}),
            (2e-4, True, {"right": 1.0, "nats": 0.75, "unrelated_kl": 0.04}),
            (4e-4, False, {"code": "loss_not_finite"}),
        ):
            self.tell(run, "choice_started", learning_rate=rate, epochs=8, rank=16, folder="search/x")
            self.tell(run, "choice_done", learning_rate=rate, epochs=8, rank=16, seconds=90.0, best=best, **more)
        return self.ended(run, "shipped")

    def ended(self, run: Run, state: State, failure: Mapping[str, Any] | None = None) -> Run:
        if failure:
            self.tell(run, "run_failed", **failure)
        return self.session.household.runs.finish(run.id, state)


@pytest.fixture
def runs(session: Session) -> Runs:
    return Runs(session)
