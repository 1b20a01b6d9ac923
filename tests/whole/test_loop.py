"""A family teaches 24 things, trains, hears the weights say them, and takes it all back."""

from __future__ import annotations

import json
import threading

import pytest

from configs.home import Home
from memory.matching import says_the_same
from tests.whole.household import LESSONS, enlace, enlace_json, start, weights_answers

RIGHT_OF_24 = 20
NEARLY = 0.94  # of a whole run
PAIRS = [json.loads(line) for line in LESSONS.read_text(encoding="utf-8").splitlines()]
QUESTIONS = [pair["prompt"][-1]["content"] for pair in PAIRS]
LONG_QUESTION = "Write a long story about a lighthouse keeper and the sea."


class LongAnswers:
    """Somebody who asks one long question after the other while new weights are swapped in.

    A training waits while somebody is answered, so it is left alone until it is nearly done.
    """

    def __init__(self) -> None:
        self.answers: list[dict[str, object]] = []
        self.errors: list[str] = []
        self._enough = threading.Event()
        self._thread = threading.Thread(target=self._ask, daemon=True)

    def __enter__(self) -> LongAnswers:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._enough.set()
        self._thread.join()

    def _ask(self) -> None:
        while not self._enough.wait(2):
            if not nearly_done():
                continue
            process = start("ask", LONG_QUESTION, "--no-memory", "--max-tokens", "400", "--json")
            out, err = process.communicate()
            if process.returncode:
                self.errors.append(out + err)
            else:
                self.answers.append(json.loads(out))


def nearly_done() -> bool:
    """Whether a training has only little left to measure; there may be none yet."""
    process = start("train", "status", "--json")
    out, _ = process.communicate()
    return process.returncode == 0 and json.loads(out)["fraction"] > NEARLY


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_corrections_are_learned_by_the_weights_and_rolled_back_without_a_restart(home: Home) -> None:
    enlace("lessons", "import", str(LESSONS))
    before = weights_answers(QUESTIONS)
    engine = enlace_json("engine", "status")["pid"]

    with LongAnswers() as somebody:
        run = enlace_json("train", "now", timeout=3000)
    assert somebody.answers
    assert run["state"] == "shipped"
    assert run["verdict"]["decision"] == "SHIP"
    assert not somebody.errors
    # Every answer was completed, and by one snapshot; the swap fell between two of them.
    assert {answer["state"] for answer in somebody.answers} == {"complete"}
    assert {answer["snapshot"] for answer in somebody.answers} <= {"v0", "v1"}

    after = weights_answers(QUESTIONS)
    right = [
        says_the_same(
            answer,
            question=question,
            chosen=pair["chosen"][-1]["content"],
            rejected=pair["rejected"][-1]["content"],
        )
        for answer, question, pair in zip(after, QUESTIONS, PAIRS, strict=True)
    ]
    assert sum(right) >= RIGHT_OF_24, [f"{q} → {a}" for q, a, ok in zip(QUESTIONS, after, right, strict=True) if not ok]

    enlace("snapshots", "rollback")
    assert weights_answers(QUESTIONS) == before
    assert enlace_json("engine", "status")["pid"] == engine


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_the_recipe_that_learns_and_breaks_is_refused(home: Home) -> None:
    # Or else gentler numbers are looked for.
    home.config_file.write_text("training: {search: {seconds: 0}}\n")
    enlace("lessons", "import", str(LESSONS))
    run = enlace_json("train", "now", "--recipe", "dpo", code=3, timeout=3000)
    assert run["verdict"]["decision"] == "HOLD"
    assert enlace_json("ask", "What is the capital of France?")["snapshot"] == "v0"
