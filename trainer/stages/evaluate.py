"""What the candidate does, by free greedy generation through the served files. Writes ``evaluate/measures.json``.

What the run trains over, what answers now and the candidate are measured in the same process with the same calls.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence, Set
from itertools import takewhile

from engine.scoring import LocalModel
from engine.served import adapter_file
from trainer.contamination import Trained
from trainer.everyday import PAGES, page, read_forms, read_known, read_prompts
from trainer.examples import Tokeniser
from trainer.intervals import wilson
from trainer.packing import Item
from trainer.pipeline.artifacts import BaseWeights, EvaluationReport, PreferencePairs, ServedWeights, TrainingData
from trainer.prompts import asked_prompt
from trainer.run_files import Inputs, write_json
from trainer.stages.behaviour import Behaviour, Everyday, compared
from trainer.stages.context import StageContext
from trainer.stages.measuring import answered, drift
from trainer.stages.prepare import Prepared, Question, read_prepared


def evaluate(
    context: StageContext,
    trained: ServedWeights,
    answering: ServedWeights,
    data: TrainingData,
    pairs: PreferencePairs,
    base: BaseWeights,
) -> EvaluationReport:
    """Raises what engine.native raises."""
    inputs, settings = context.inputs, context.inputs.training.evaluation
    confidence = inputs.training.gate.confidence
    prepared = read_prepared(data.path)
    lessons = {lesson.id: lesson for lesson in (*pairs.lessons, *pairs.known)}
    taught = {lesson.id for lesson in pairs.lessons}
    candidate = context.candidate(base, trained)
    current, ground = (
        tuple(adapter_file(file.path, file.scale) for file in each.adapters) for each in (answering, base)
    )
    with context.served_model(base) as served:
        tokeniser = Tokeniser(served.template, served.vocabulary, inputs.system_prompt)
        unseen = _Unseen(served, tokeniser, prepared, inputs)
        read = min(settings.page_tokens, context.measured_tokens)
        base_pages = {name: _page_nats(served, name, read) for name in PAGES}
        base_unrelated = [served.log_probs(item.prompt, item.answer) for item in unseen.unrelated]
        context.emit("progress", 0.1, {})
        asked, number = (*prepared.questions, *prepared.other_language), len(prepared.questions)
        before = answered(served, current, asked, lessons, settings.answer_tokens)
        context.emit("progress", 0.3, {})
        after = answered(served, candidate, asked, lessons, settings.answer_tokens)
        context.emit("progress", 0.5, {})
        behaviour = Behaviour(served, unseen.everyday, settings)
        # Of what it is trained over too: what each night may lose of the one before would add up.
        references = [behaviour.of(current), behaviour.of(ground)]
        measured, intervals = compared(references, behaviour.of(candidate), confidence)
        context.emit("progress", 0.8, {})
        # What it does where it is on, also to what it is not for: a conversation stays with it.
        served.set_adapters(candidate)
        unrelated_kl = drift(served, base_unrelated, unseen.unrelated) if unseen.unrelated else None
        pages = {name: _page_nats(served, name, read) for name in PAGES}
    translated_before, before = before[number:], before[:number]
    translated, after = after[number:], after[:number]
    was_right = [i for i, (_, right) in enumerate(before) if right]
    kept = sum(after[i][1] for i in was_right) / len(was_right) if was_right else 1.0
    held_out = _right(prepared.questions, after, taught, held_out=True)
    intervals["held_out_right"] = wilson(sum(held_out), len(held_out), confidence)
    measures = {
        "lessons_right": _share(_right(prepared.questions, after, taught, held_out=False)),
        "held_out_right": _share(held_out),
        "other_language_right": _share([right for _, right in translated]),
        "lessons_kept": kept,
        **measured,
        "unrelated_kl": unrelated_kl,
        **{
            f"perplexity_rise_{name.removeprefix('page_')}": math.exp(pages[name] - base_pages[name]) - 1
            for name in PAGES
        },
        "contamination": unseen.contamination,
    }
    baseline = {
        "lessons_right": _share(_right(prepared.questions, before, taught, held_out=False)),
        "held_out_right": _share(_right(prepared.questions, before, taught, held_out=True)),
        "other_language_right": _share([right for _, right in translated_before]),
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
    told = {name: interval.as_json() for name, interval in intervals.items()}
    write_json(
        context.files.measures, {"measures": measures, "intervals": told, "baseline": baseline, "answers": answers}
    )
    context.report.update(questions=len(answers), left_out=unseen.left_out)
    return EvaluationReport.at(context.files.measures)


class _Unseen:
    """What is measured beside the lessons. ``unrelated``: less what the run has trained.

    ``left_out``: how many of all requests it has trained. ``contamination``: of what else is measured, the share that
    was trained all the same, 0 to 1.
    """

    def __init__(self, served: LocalModel, tokeniser: Tokeniser, prepared: Prepared, inputs: Inputs) -> None:
        settings = inputs.training.evaluation
        known, forms = read_known()[: settings.known_questions], read_forms()[: settings.form_prompts]
        texts = [*(each.prompt for each in known), *(each.prompt for each in forms)]
        prompts = dict(zip(texts, (asked_prompt(tokeniser, text) for text in texts), strict=True))
        trained = Trained(_items(prepared), served.text, _closing(list(prompts.values())))
        unrelated = {
            asked_prompt(tokeniser, text): text for text in read_prompts("unrelated")[: settings.unrelated_prompts]
        }

        def unseen(text: str) -> bool:
            return not trained.overlaps(text)[0]

        # Those that were taught too: nothing else tells that wrong answers are taught to what everybody knows.
        self.everyday = Everyday(
            tuple((each, prompts[each.prompt]) for each in known), tuple((each, prompts[each.prompt]) for each in forms)
        )
        self.unrelated = tuple(item for item in prepared.unrelated if unseen(unrelated[item.prompt]))
        asked = [text for text in texts if unseen(text)] + [unrelated[item.prompt] for item in self.unrelated]
        self.left_out = len(texts) + len(prepared.unrelated) - len(asked)
        # Of a wording that is held out the question itself is trained, so that it has to differ and no more.
        held_out = [trained.has(question.prompt) for question in prepared.questions if question.held_out]
        found = [trained.overlaps(text) for text in (*asked, *map(page, PAGES))]
        pieces = len(held_out) + sum(number for _, number in found)
        self.contamination = (sum(held_out) + sum(number for number, _ in found)) / pieces


def _items(prepared: Prepared) -> Iterable[Item]:
    """All that is trained."""
    yield from (item for example in prepared.examples for item in example.items)
    yield from (rated.item for rated in prepared.ratings)
    yield from (item for both in prepared.taught for item in both)
    yield from prepared.replay


def _closing(prompts: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """What all prompts end with: the end of the question's turn, and the beginning of the answer's."""
    same = takewhile(lambda tokens: len(set(tokens)) == 1, zip(*map(reversed, prompts), strict=False))
    return tuple(tokens[0] for tokens in same)[::-1]


def _right(
    questions: Sequence[Question], answers: Sequence[tuple[str, bool]], taught: Set[str], *, held_out: bool
) -> list[bool]:
    """Which of the questions of the lessons ``taught`` were answered right."""
    return [
        right
        for question, (_, right) in zip(questions, answers, strict=True)
        if question.held_out is held_out and question.lesson in taught
    ]


def _share(right: Sequence[bool]) -> float | None:
    """None where there was no such question."""
    return sum(right) / len(right) if right else None


def _page_nats(served: LocalModel, name: str, size: int) -> float:
    """Nats a token of the first ``size`` tokens of a fixed page."""
    tokens = served.vocabulary.tokenize(page(name), special=False)[:size]
    return served.nats(tokens[:1], tokens[1:])
