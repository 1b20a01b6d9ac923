"""One question as a process of its own: ``enlace ask`` beside ``llm -m SmolLM2``."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from functools import partial
from statistics import median

from benchmarks.errors import MeasurementFailed, PeerMissing
from benchmarks.harness import without_peer
from benchmarks.homes import clean_environment, enlace, starter_model, temporary_home
from benchmarks.measures import side_by_side
from benchmarks.peers.environments import peer
from benchmarks.plan import EnginePlan, Plan
from benchmarks.processes import Finished, run
from benchmarks.rows import Row, row

QUESTION = "What is the capital of France?"
LONG_QUESTION = "Write a long story about a dog that crosses a whole country to find its family."
COLD_BOUND = 1.0
WARM_BOUND = 0.4
PEER = "llm -m SmolLM2"

Timed = Callable[[int], float]


def one_shot(plan: Plan) -> list[Row]:
    """Wall time of a short answer, with no engine running in a fresh home, and with one running."""
    limit = plan.engine.timeout_s
    notes: list[str] = []
    llm: Llm | None = None
    with without_peer(notes):
        llm = Llm(limit)
        notes.append(f"llm writes {llm.written(QUESTION)} tokens.")

    def cold(number: int) -> float:
        with temporary_home() as home:
            return run(enlace("ask", QUESTION), home, timeout=limit).seconds

    rows = [_compared("short answer, engine not running", cold, llm, plan.engine, COLD_BOUND, notes)]
    with temporary_home() as home:
        first = run(enlace("ask", "--json", QUESTION), home, timeout=limit)
        notes.append(f"Enlace writes {_answer_tokens(first)} tokens.")

        def warm(number: int) -> float:
            return run(enlace("ask", QUESTION), home, timeout=limit).seconds

        rows.append(_compared("short answer, engine running", warm, llm, plan.engine, WARM_BOUND, notes))
    return rows


def long_answer(plan: Plan) -> list[Row]:
    """The same where both write about as much: Enlace may write as many tokens as ``llm`` does."""
    limit = plan.engine.timeout_s
    llm = Llm(limit)
    tokens = llm.written(LONG_QUESTION)
    asking = enlace("ask", "--max-tokens", str(tokens), LONG_QUESTION)
    with temporary_home() as home:
        first = run([*asking, "--json"], home, timeout=limit)

        def ours(number: int) -> float:
            return run(asking, home, timeout=limit).seconds

        mine, other = side_by_side(ours, partial(llm.ask, LONG_QUESTION), plan.engine.long_rounds)
    return [
        row(
            "long answer, engine running",
            median(mine),
            "s",
            peer=PEER,
            peer_value=median(other),
            samples=len(mine),
            note=f"llm writes {tokens} tokens, Enlace {_answer_tokens(first)} in its first answer.",
        )
    ]


def _compared(name: str, ours: Timed, llm: Llm | None, plan: EnginePlan, bound: float, notes: list[str]) -> Row:
    mine, other = side_by_side(ours, partial(llm.ask, QUESTION) if llm else None, plan.ask_rounds)
    return row(
        name,
        median(mine),
        "s",
        peer=PEER,
        peer_value=median(other) if other else None,
        bound=bound,
        samples=len(mine),
        note=" ".join(notes),
    )


def _answer_tokens(finished: Finished) -> int:
    return int(json.loads(finished.output)["answer_tokens"])


class Llm:
    """``llm -m SmolLM2`` with a folder of its own for its log. Raises PeerMissing when it cannot be had."""

    def __init__(self, timeout: float) -> None:
        self._command = peer("llm").command("llm")
        self._timeout = timeout
        self._folder = tempfile.TemporaryDirectory(prefix="enlace-llm-")
        self._environment = clean_environment() | {"LLM_USER_PATH": self._folder.name}

    def ask(self, question: str, number: int) -> float:
        """Seconds of one answer, whatever the round's ``number``."""
        return self._run(question).seconds

    def written(self, question: str) -> int:
        """How many tokens its answer has. It draws with a fixed seed: the answer is the same each time."""
        from engine.vocabulary import Vocabulary

        text = self._run(question).output.removesuffix("\n")
        vocabulary = Vocabulary.load(starter_model())
        try:
            return len(vocabulary.tokenize(text, special=False))
        finally:
            vocabulary.close()

    def _run(self, question: str) -> Finished:
        try:
            return run([self._command, "-m", "SmolLM2", question], self._environment, timeout=self._timeout)
        except MeasurementFailed as error:
            raise PeerMissing(f"The peer llm does not answer here. {error}") from error
