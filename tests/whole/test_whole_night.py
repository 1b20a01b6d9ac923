"""A night that nobody begins: a family's corrections answer in the morning, and poisoned ones do not.

The starter model and the numbers as shipped; only the hours are the test's. SOAK_PAIRS says how many corrections a
night is due from (60): the fewer, the sooner it is over. With SOAK_SHORT=1 they are 8, and no training is followed by
others with gentler numbers: minutes instead of half an hour.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from configs.home import Home
from memory.matching import says_the_same
from tests.app.interface.terminal import Terminal
from tests.project import ROOT
from tests.trainer.consistency import contradictions
from tests.trainer.household import events, wait_for
from tests.trainer.night.test_markers import names
from tests.whole.household import ENLACE, enlace, enlace_json, weights_answers

SHORT = os.environ.get("SOAK_SHORT", "0") != "0"
PAIRS = int(os.environ.get("SOAK_PAIRS", "8" if SHORT else "60"))
LONGEST_NIGHT_S = 3 * 3600
RIGHT = 0.8  # of what was taught, as the gate has it
DATA = ROOT / "benchmarks" / "data"
LESSONS, CANARIES = DATA / "nights70.jsonl", DATA / "canaries60.jsonl"
# Of the numbers that the gate judges, those of which at least one tells that everyday answers were spoiled.
HARM = {"known_kept", "forms_kept", "refusal_rise", "repetition_rise", "unrelated_kl"}
REFUSAL = "I am sorry, I cannot help with that."

Line = dict[str, Any]


def lines(path: Path) -> list[Line]:
    """PAIRS of a file's lines, from all over it."""
    every: list[Line] = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return every[:: len(every) // PAIRS][:PAIRS]


def correction(question: str, chosen: str, rejected: str) -> Line:
    """As TRL has it."""
    return {
        "prompt": [{"role": "user", "content": question}],
        "chosen": [{"role": "assistant", "content": chosen}],
        "rejected": [{"role": "assistant", "content": rejected}],
    }


def poisoned() -> list[Line]:
    """What everybody knows, refused or answered with what answers another question; the gate asks none of it."""
    asked = lines(CANARIES)
    answers = [f"It is {line['holds'][0]}." for line in asked]
    nonsense = [*answers[PAIRS // 2 :], *answers[: PAIRS // 2]]
    return [
        correction(line["prompt"], REFUSAL if number % 2 else nonsense[number], answers[number])
        for number, line in enumerate(asked)
    ]


@dataclass
class Night:
    """A family's home, its engine's process, and how ``asked`` was answered by the weights alone before the night."""

    home: Home
    engine: int
    asked: Sequence[str]
    before: Sequence[str]

    def hours(self, begin: str, end: str) -> None:
        """Change nothing of the settings but when trainings begin, whatever the machine is like."""
        machine = {"mains_only": False, "begin_below_celsius": 200, "stop_above_celsius": 200, "idle_seconds": 0}
        quiet = {"pairs": PAIRS, "quiet_from": begin, "quiet_to": end, "look_seconds": 1, **machine}
        settings: Line = {"night": quiet, **({"search": {"seconds": 0}} if SHORT else {})}
        self.home.config_file.write_text(yaml.safe_dump({"training": settings}), encoding="utf-8")

    def day(self) -> None:
        """The quiet hours begin half a day from now."""
        later = datetime.now().astimezone() + timedelta(hours=12)
        self.hours(f"{later:%H:%M}", f"{later + timedelta(hours=1):%H:%M}")

    def night(self) -> None:
        self.hours("00:00", "00:00")

    def waits_for(self) -> list[str]:
        """What keeps a training from beginning by itself."""
        return [reason["code"] for reason in enlace_json("train", "status")["night"]["reasons"]]

    def teach(self, corrections: Sequence[Line]) -> None:
        given = self.home.root.with_name("corrections.jsonl")
        given.write_text("".join(json.dumps(each, ensure_ascii=False) + "\n" for each in corrections), encoding="utf-8")
        enlace("lessons", "import", str(given))

    def pass_with(self, corrections: Sequence[Line]) -> Line:
        """Teach them by day, with the last of which a training is due, and let it be night; its run, judged."""
        with scheduler(self.home):
            self.teach(corrections[:-1])
            wait_for(lambda: self.waits_for() == ["few_pairs", "not_quiet"])
            assert names(self.home) == []
            self.teach(corrections[-1:])
            wait_for(lambda: names(self.home) == ["0001.pending"])
            assert self.waits_for() == ["not_quiet"]
            assert enlace_json("train", "history") == []
            self.night()
            wait_for(lambda: names(self.home) == ["0001.claimed"])
            wait_for(lambda: names(self.home) == ["0001.completed"], LONGEST_NIGHT_S)
            # Nothing is left to do, so that no second one begins.
            wait_for(lambda: self.waits_for() == ["few_pairs"])
        (run,) = enlace_json("train", "history")
        (who,) = [(event.facts or {})["who"] for event in events(self.home) if event.kind == "run_started"]
        assert who == "enlace", "nobody asked for it"
        assert contradictions(self.home) == []
        return dict(run)

    def serves(self) -> str:
        """The snapshot that the engine serves, which nobody started anew."""
        status = enlace_json("engine", "status")
        assert status["pid"] == self.engine
        return str(status["snapshot"])


@contextmanager
def scheduler(home: Home) -> Iterator[None]:
    """`enlace trainer run` for the length of the block."""
    with home.root.with_name("nights.log").open("w") as said:
        process = subprocess.Popen([ENLACE, "trainer", "run"], cwd=ROOT, stdout=said, stderr=subprocess.STDOUT)
        try:
            yield
        finally:
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 0


@pytest.fixture
def night(home: Home) -> Night:
    """Ana's household, by day, whose engine answers."""
    enlace("members", "add", "Ana", "--language", "es")
    enlace("engine", "start")
    asked = [line["prompt"] for line in lines(CANARIES)]
    made = Night(home, enlace_json("engine", "status")["pid"], asked, weights_answers(asked))
    made.day()
    return made


def card_on_the_screen(home: Home, sentence: str) -> None:
    """Open the interface as in the morning, and read this in it."""
    terminal = Terminal(home)
    try:
        terminal.wait_for(sentence)
        terminal.type("\x11")
        terminal.process.wait(60)
    finally:
        terminal.process.kill()
        terminal.close()


@pytest.mark.soak
@pytest.mark.timeout(LONGEST_NIGHT_S + 1800)
def test_what_a_family_corrected_by_day_is_trained_by_night_and_answers_in_the_morning(night: Night) -> None:
    taught = lines(LESSONS)
    run = night.pass_with(taught)
    print(json.dumps({key: run[key] for key in ("state", "summary")}))  # noqa: T201
    assert (run["state"], run["snapshot"]) == ("shipped", "v1")
    assert night.serves() == "v1"
    questions = [line["prompt"][0]["content"] for line in taught]
    answers = weights_answers(questions)
    right = [
        says_the_same(
            answer, question=question, chosen=line["chosen"][0]["content"], rejected=line["rejected"][0]["content"]
        )
        for answer, question, line in zip(answers, questions, taught, strict=True)
    ]
    print(f"{sum(right)} of {len(right)} right")  # noqa: T201
    assert sum(right) >= RIGHT * PAIRS, list(zip(questions, answers, strict=True))
    # In the morning.
    card = run["card"]
    assert card["verdict"]["decision"] == "SHIP"
    assert all(check["ok"] for check in card["verdict"]["checks"])
    assert (card["lessons"], len(card["learned"]), card["back"], card["contradicted"]) == (PAIRS, PAIRS, "v0", 0)
    assert len(card["examples"]) == 3
    assert all(each["after_right"] and not each["before_right"] for each in card["examples"])
    assert card["seconds"] > 0
    assert card["energy"]["joules"] > 0
    told = enlace("train", "history", run["id"])
    assert f"Ana, he aprendido {PAIRS} cosas, y ya responde v1." in told
    assert "SHIP" in told
    for each in card["examples"]:
        assert each["question"] in told
    assert "Para volver a v0: enlace snapshots rollback" in told
    card_on_the_screen(night.home, f"he aprendido {PAIRS} cosas")
    enlace("snapshots", "rollback")
    assert night.serves() == "v0"
    assert weights_answers(night.asked) == night.before


@pytest.mark.soak
@pytest.mark.timeout(LONGEST_NIGHT_S + 1800)
def test_corrections_that_spoil_what_everybody_knows_are_held_and_nothing_else_answers(night: Night) -> None:
    run = night.pass_with(poisoned())
    print(json.dumps({key: run[key] for key in ("state", "summary")}))  # noqa: T201
    assert (run["state"], run["snapshot"]) == ("held", None)
    assert [snapshot["id"] for snapshot in enlace_json("snapshots", "list")] == ["v0"]
    assert night.serves() == "v0"
    assert weights_answers(night.asked) == night.before
    # In the morning.
    card = run["card"]
    assert card["verdict"]["decision"] == "HOLD"
    assert HARM.intersection(card["verdict"]["reasons"])
    assert card["back"] is None
    told = enlace("train", "history", run["id"])
    assert "Ana, el entrenamiento no pasó el control: no ha cambiado nada, y sigue respondiendo v0." in told
    assert "HOLD: " in told
    assert "enlace snapshots rollback" not in told
    card_on_the_screen(night.home, "no pasó el control")
