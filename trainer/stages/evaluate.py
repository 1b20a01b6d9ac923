"""What the candidate does, by free greedy generation through the served files. Writes ``evaluate/measures.json``.

What the run trains over, what answers now and the candidate are measured in the same process with the same calls.
"""

from __future__ import annotations

import math
from collections.abc import Sequence, Set

from engine.scoring import LocalModel
from engine.served import adapter_file
from trainer.everyday import PAGES, page
from trainer.pipeline.artifacts import BaseWeights, EvaluationReport, PreferencePairs, ServedWeights, TrainingData
from trainer.run_files import write_json
from trainer.stages.context import StageContext
from trainer.stages.measuring import answered, drift
from trainer.stages.prepare import Question, read_prepared


def evaluate(
    context: StageContext,
    trained: ServedWeights,
    answering: ServedWeights,
    data: TrainingData,
    pairs: PreferencePairs,
    base: BaseWeights,
) -> EvaluationReport:
    """Raises what engine.native raises."""
    settings = context.inputs.training.evaluation
    prepared = read_prepared(data.path)
    lessons = {lesson.id: lesson for lesson in (*pairs.lessons, *pairs.known)}
    taught = {lesson.id for lesson in pairs.lessons}
    candidate = context.candidate(base, trained)
    current = tuple(adapter_file(file.path, file.scale) for file in answering.adapters)
    with context.served_model(base) as served:
        base_pages = {name: _page_nats(served, name, context.measured_tokens) for name in PAGES}
        base_unrelated = [served.log_probs(item.prompt, item.answer) for item in prepared.unrelated]
        context.emit("progress", 0.2, {})
        before = answered(served, current, prepared.questions, lessons, settings.answer_tokens)
        context.emit("progress", 0.5, {})
        after = answered(served, candidate, prepared.questions, lessons, settings.answer_tokens)
        context.emit("progress", 0.8, {})
        # What it does where it is on, also to what it is not for: a conversation stays with it.
        served.set_adapters(candidate)
        unrelated_kl = drift(served, base_unrelated, prepared.unrelated)
        pages = {name: _page_nats(served, name, context.measured_tokens) for name in PAGES}
    was_right = [i for i, (_, right) in enumerate(before) if right]
    kept = sum(after[i][1] for i in was_right) / len(was_right) if was_right else 1.0
    measures = {
        "lessons_right": _share(prepared.questions, after, taught, held_out=False),
        "held_out_right": _share(prepared.questions, after, taught, held_out=True),
        "lessons_kept": kept,
        "unrelated_kl": unrelated_kl,
        **{
            f"perplexity_rise_{name.removeprefix('page_')}": math.exp(pages[name] - base_pages[name]) - 1
            for name in PAGES
        },
    }
    baseline = {
        "lessons_right": _share(prepared.questions, before, taught, held_out=False),
        "held_out_right": _share(prepared.questions, before, taught, held_out=True),
    }
    for name, value in measures.items():
        context.emit("measure", 0.95, {"name": name, "value": value, "before": baseline.get(name)})
    answers = [
        {
            "lesson": question.lesson,
            "held_out": question.held_out,
            "question": question.text,
            "before": old,
            "before_right": old_right,
            "after": new,
            "after_right": new_right,
        }
        for question, (old, old_right), (new, new_right) in zip(prepared.questions, before, after, strict=True)
    ]
    write_json(context.files.measures, {"measures": measures, "baseline": baseline, "answers": answers})
    context.report.update(questions=len(answers))
    return EvaluationReport.at(context.files.measures)


def _share(
    questions: Sequence[Question], answers: Sequence[tuple[str, bool]], trained: Set[str], *, held_out: bool
) -> float | None:
    """The share of right answers to the questions of the lessons ``trained``; None where there was no such question."""
    picked = [
        right
        for question, (_, right) in zip(questions, answers, strict=True)
        if question.held_out is held_out and question.lesson in trained
    ]
    return sum(picked) / len(picked) if picked else None


def _page_nats(served: LocalModel, name: str, size: int) -> float:
    """Nats a token of a fixed page, read as far as the context goes."""
    tokens = served.vocabulary.tokenize(page(name), special=False)[:size]
    return served.nats(tokens[:1], tokens[1:])
