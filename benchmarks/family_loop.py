"""The whole loop over 24 lessons: import, ``enlace train now``, what the new weights say, and what recall adds."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.harness import progress
from benchmarks.homes import enlace, temporary_home
from benchmarks.learned import CANARIES, ELSEWHERE, LESSONS, PARAPHRASES, Learned, learned, lines, question_of
from benchmarks.one_training import Training, train_now
from benchmarks.plan import Plan
from benchmarks.processes import run
from benchmarks.rows import Better, Row, row
from benchmarks.served_as_trained import Divergence, served_as_trained
from configs.home import Home
from configs.settings import load_settings
from memory.household import Household
from memory.matching import says_the_same

LONGEST_S = 1200
# Nats a token between the trained and the served function.
PARITY = 0.02


@dataclass(frozen=True)
class Taught:
    """One training of the 24 lessons: what it took, what it changed, and the shares of right answers with recall.

    ``recalled_elsewhere``: the share of unrelated questions at which a lesson is recalled.
    """

    training: Training
    learned: Learned
    divergence: Divergence
    recalled: float
    recalled_others: float
    recalled_elsewhere: float


def loop(plan: Plan) -> list[Row]:
    """Time, memory, and what was learned and what else changed, over the seeds: the worst of them counts."""
    if not plan.learning.seeds:
        progress("the loop takes minutes: it is left out of the quick plan.")
        return []
    taught = [_taught(plan, seed) for seed in plan.learning.seeds]

    def worst(
        name: str, unit: str, of: Callable[[Taught], float], bound: float, better: Better = "lower", note: str = ""
    ) -> Row:
        values = [of(each) for each in taught]
        value = max(values) if better == "lower" else min(values)
        return row(name, value, unit, bound=bound, bound_on="value", better=better, samples=len(values), note=note)

    mistakes = {wrong for each in taught for wrong in each.learned.wrong}
    decisions = ", ".join(each.training.decision for each in taught)
    return [
        worst(
            "24 lessons, from command to verdict", "s", lambda each: each.training.seconds, LONGEST_S, note=decisions
        ),
        row("24 lessons, peak memory of a stage", max(each.training.peak_bytes for each in taught) / 2**20, "MiB"),
        worst("answered right", "share", lambda each: each.learned.reliability, 0.98, "higher"),
        worst(
            "other wordings right",
            "share",
            lambda each: each.learned.generalisation,
            0.9,
            "higher",
            note="Wrong with any seed: " + " | ".join(sorted(mistakes)),
        ),
        worst(
            "unrelated answers equivalent",
            "share",
            lambda each: each.learned.locality,
            0.98,
            "higher",
            note=f"Word for word: {min(each.learned.the_same for each in taught):.2f}.",
        ),
        worst("KL elsewhere", "nats/token", lambda each: each.learned.kl, 0.03),
        *(
            worst(f"perplexity, {name}", "rise", partial(_rise, name=name), 0.01)
            for name in taught[0].learned.perplexity_rise
        ),
        worst(
            "known answers lost",
            "answers",
            lambda each: each.learned.canaries_lost,
            0,
            note=f"Of the {min(each.learned.canaries for each in taught)} that the base answers right.",
        ),
        worst("served against trained, adapter", "nats/token", lambda each: each.divergence.over, PARITY),
        worst("served against trained, merged", "nats/token", lambda each: each.divergence.merged, PARITY),
        worst("answered right, with recall", "share", lambda each: each.recalled, 0.98, "higher"),
        worst("other wordings right, with recall", "share", lambda each: each.recalled_others, 0.95, "higher"),
        worst(
            "unrelated questions that recall a lesson",
            "share",
            lambda each: each.recalled_elsewhere,
            0.02,
            note="Every other one is answered as without memory.",
        ),
    ]


def _taught(plan: Plan, seed: int) -> Taught:
    limit = plan.learning.timeout_s
    with temporary_home() as home:
        home = home | {"ENLACE_TRAINING__SEED": str(seed)}
        run(enlace("lessons", "import", str(LESSONS)), home, timeout=limit)
        run(enlace("engine", "start"), home, timeout=limit)
        trained = train_now(home, limit)
        progress(f"seed {seed}: the gate says {trained.decision} after {trained.seconds:.0f} s; asking …")
        others = {line["question"]: line["paraphrases"] for line in lines(PARAPHRASES)}
        recalled = _recalled_elsewhere(home)
        lessons = lines(LESSONS)
        found, divergence = learned(trained.folder, lessons, others), served_as_trained(trained.folder)
        right = [_right(home, lesson, question_of(lesson), limit) for lesson in lessons]
        reworded = [_right(home, lesson, other, limit) for lesson in lessons for other in others[question_of(lesson)]]
    taught = Taught(
        training=trained,
        learned=found,
        divergence=divergence,
        recalled=sum(right) / len(right),
        recalled_others=sum(reworded) / len(reworded),
        recalled_elsewhere=recalled,
    )
    # A seed takes a quarter of an hour: what it gave is known also where the next one is broken off.
    progress(
        f"right {found.reliability:.3f}, other wordings {found.generalisation:.3f}, KL {found.kl:.4f}; "
        f"with recall {taught.recalled:.3f} and {taught.recalled_others:.3f}"
    )
    return taught


def _rise(each: Taught, name: str) -> float:
    return each.learned.perplexity_rise[name]


def _right(home: dict[str, str], lesson: dict[str, Any], question: str, limit: float) -> bool:
    """Whether the assistant, with recall from memory, answers with the corrected content."""
    asked = run(enlace("ask", "--temperature", "0", "--json", question), home, timeout=limit)
    return says_the_same(
        json.loads(asked.output)["answer"],
        question=f"{question_of(lesson)}\n{question}",
        chosen=lesson["chosen"][0]["content"],
        rejected=lesson["rejected"][0]["content"],
    )


def _recalled_elsewhere(home: dict[str, str]) -> float:
    """The share of the unrelated questions, and of those that the base answers right, at which a lesson is recalled."""
    place = Home(Path(home["ENLACE_HOME"]))
    asked = [line["prompt"] for file in (ELSEWHERE, CANARIES) for line in lines(file)]
    with Household.open(place, load_settings(place, home).memory) as household:
        member = household.members.default()
        recall = household.member(member.id).recall
        return sum(bool(recall.find(question, member).lessons) for question in asked) / len(asked)
