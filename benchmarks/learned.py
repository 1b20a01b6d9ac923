"""What new weights have learned and what else they changed, by free greedy generation through the served files.

The lessons as they were asked and in wordings that nobody trained; a hundred unrelated questions;
questions that the base answers right by itself; how far the distribution moved; how well fixed pages are foreseen.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.recipe import DATA
from engine.library import set_thread_spins
from engine.messages import Message
from engine.prompt import render
from engine.routes import routed_texts
from engine.scoring import LocalModel, kl
from engine.served import AdapterSet, adapter_file
from memory.matching import says_the_same
from trainer.as_served import Asked, greedy_as_served
from trainer.everyday import PAGES, page
from trainer.examples import Tokeniser
from trainer.run_files import Inputs, RunFiles, read_inputs

LESSONS = DATA / "lessons24.jsonl"
PARAPHRASES = DATA / "paraphrases24.jsonl"
ELSEWHERE = DATA / "elsewhere100.jsonl"
CANARIES = DATA / "canaries60.jsonl"
ANSWER_TOKENS = 48
CONTEXT = 1024
SIDE_BY_SIDE = 8
KL_PROMPTS = 50
# An answer that the base holds for nearly as likely, token by token, as the one that it gives itself.
EQUIVALENT_NATS = 0.2


@dataclass(frozen=True)
class Learned:
    """Shares from 0 to 1; ``kl`` in nats a token; ``perplexity_rise`` by page, 0.01 being one per cent.

    ``reliability``: lessons right as asked; ``generalisation``: in other words; ``locality``: unrelated answers that
    are equivalent to the base's, ``the_same`` of them word for word; ``canaries_lost`` of ``canaries``.
    """

    reliability: float
    generalisation: float
    locality: float
    the_same: float
    canaries: int
    canaries_lost: int
    kl: float
    perplexity_rise: dict[str, float]
    wrong: tuple[str, ...]


def learned(run: Path, lessons: Sequence[dict[str, Any]], others: Mapping[str, Sequence[str]]) -> Learned:
    """Judge the adapter of the training whose files are in ``run``. Raises what LocalModel raises.

    ``lessons``: what it should have learned, in TRL's form; ``others``: other wordings of each one's question.
    """
    files = RunFiles(run)
    inputs = read_inputs(files)
    adapters = (adapter_file(files.adapter, 1.0),)
    with served_model(inputs, inputs.base) as served:
        tokeniser = Tokeniser(served.template, served.vocabulary, inputs.system_prompt)
        elsewhere = [line["prompt"] for line in lines(ELSEWHERE)]
        canaries = [(line["prompt"], line["holds"]) for line in lines(CANARIES)]
        prompts = [_prompt(tokeniser, question) for question in elsewhere]
        before = served.greedy(prompts, ANSWER_TOKENS)
        base_pages = {name: _nats(served, *_page(served, name)) for name in PAGES}
        of_base = [served.log_probs(p, a) for p, a in zip(prompts[:KL_PROMPTS], before, strict=False)]
        known = _holding(served, tokeniser, canaries, ())

        after = _answers(served, tokeniser, adapters, elsewhere)
        # A page is no conversation about anything that was taught.
        served.set_adapters(routed_texts(adapters, ()))
        pages = {name: _nats(served, *_page(served, name)) for name in PAGES}
        moved = 0.0
        ways = [routed_texts(adapters, (question,)) for question in elsewhere]
        for way in dict.fromkeys(ways):
            served.set_adapters(way)
            for taken, base, prompt, answer in zip(ways, of_base, prompts, before, strict=False):
                moved += kl(base, served.log_probs(prompt, answer)) if taken == way else 0.0
        moved /= sum(map(len, before[:KL_PROMPTS]))
        kept = _holding(served, tokeniser, canaries, adapters)
        asked = [(lesson, question_of(lesson)) for lesson in lessons]
        reworded = [(lesson, other) for lesson, question in asked for other in others[question]]
        wrong = _wrong(served, tokeniser, adapters, asked)
        wrong_others = _wrong(served, tokeniser, adapters, reworded)

        served.set_adapters([])
        alike = [
            old == new or _nats(served, p, new) <= _nats(served, p, old) + EQUIVALENT_NATS
            for p, old, new in zip(prompts, before, after, strict=True)
        ]
    return Learned(
        reliability=1 - len(wrong) / len(asked),
        generalisation=1 - len(wrong_others) / len(reworded),
        locality=sum(alike) / len(alike),
        the_same=sum(old == new for old, new in zip(before, after, strict=True)) / len(before),
        canaries=len(known),
        canaries_lost=len(known - kept),
        kl=moved,
        perplexity_rise={name: math.exp(pages[name] - base_pages[name]) - 1 for name in PAGES},
        wrong=(*wrong, *wrong_others),
    )


def lines(file: Path) -> list[dict[str, Any]]:
    """The objects of a JSONL file."""
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line]


def served_model(inputs: Inputs, model: Path) -> LocalModel:
    """``model`` as a training with these inputs asks it. Raises what LocalModel raises."""
    # Or else every meeting of its threads waits for whatever else this machine does.
    set_thread_spins(inputs.engine.thread_spins)
    return LocalModel(model, inputs.engine, context_size=CONTEXT, threads=inputs.threads, slots=SIDE_BY_SIDE)


def _prompt(tokeniser: Tokeniser, question: str) -> list[int]:
    messages = tokeniser.under_system([Message("user", question)])
    return list(render(tokeniser.template, tokeniser.vocabulary, messages))


def question_of(lesson: dict[str, Any]) -> str:
    """The question that a lesson in TRL's form answers."""
    return str(lesson["prompt"][-1]["content"])


def _answers(
    served: LocalModel, tokeniser: Tokeniser, adapters: AdapterSet, questions: Sequence[str]
) -> list[list[int]]:
    """The answer to each question, as the family gets it."""
    asked = [Asked((question,), tuple(_prompt(tokeniser, question))) for question in questions]
    return greedy_as_served(served, adapters, asked, ANSWER_TOKENS)


def _wrong(
    served: LocalModel, tokeniser: Tokeniser, adapters: AdapterSet, asked: Sequence[tuple[dict[str, Any], str]]
) -> tuple[str, ...]:
    """The questions that are not answered with what their lesson says, each with the answer."""
    answers = _answers(served, tokeniser, adapters, [question for _, question in asked])
    found = []
    for (lesson, question), tokens in zip(asked, answers, strict=True):
        answer, chosen, rejected = (
            served.text(tokens),
            lesson["chosen"][0]["content"],
            lesson["rejected"][0]["content"],
        )
        both = f"{question_of(lesson)}\n{question}"
        if not says_the_same(answer, question=both, chosen=chosen, rejected=rejected):
            found.append(f"{question} {answer}")
    return tuple(found)


def _holding(
    served: LocalModel, tokeniser: Tokeniser, canaries: Sequence[tuple[str, list[str]]], adapters: AdapterSet
) -> set[str]:
    """The questions whose answers hold one of what they should."""
    answers = _answers(served, tokeniser, adapters, [question for question, _ in canaries])
    texts = [served.text(tokens).casefold() for tokens in answers]
    return {
        question
        for (question, holds), text in zip(canaries, texts, strict=True)
        if any(each.casefold() in text for each in holds)
    }


def _page(served: LocalModel, name: str) -> tuple[list[int], list[int]]:
    tokens = served.vocabulary.tokenize(page(name), special=False)[: CONTEXT - 1]
    return tokens[:1], tokens[1:]


def _nats(served: LocalModel, prompt: Sequence[int], answer: Sequence[int]) -> float:
    """Nats a token of ``answer``; nothing at all is worth nothing."""
    return served.nats(prompt, answer) if answer else 0.0
