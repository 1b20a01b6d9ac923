"""Prompt distillation: the teacher reads what the assistant would show, and the trained model comes to answer alike."""

from __future__ import annotations

import torch

from app.assistant.prompting import Material, messages
from configs.settings import Settings
from memory.lessons import Lesson
from tests.trainer.conftest import SYSTEM
from tests.trainer.test_loop import Reports
from trainer.examples import Tokeniser, lesson_examples, shown_item
from trainer.lessons import TrainingLesson
from trainer.loop import train
from trainer.model.decoder import Decoder
from trainer.model.lora import new_adapter
from trainer.model.reading import BaseWeights
from trainer.objectives.distillation import Distillation
from trainer.objectives.interface import Example, Part
from trainer.objectives.likelihood import Likelihood
from trainer.packing import Item, build_pack
from trainer.references import kept_examples, with_pair_references
from trainer.teaching.rows import question_rows

WORDING = "What's our dog called?"


def shown_to_the_base(tokeniser: Tokeniser, lesson: TrainingLesson, wordings: list[str]) -> list[Item]:
    return [shown_item(tokeniser, lesson, row) for row in question_rows(lesson, wordings)]


def test_the_teacher_reads_what_the_assistant_would_show(tokeniser: Tokeniser, dog: TrainingLesson) -> None:
    question = ({"role": "user", "content": dog.question},)
    lesson = Lesson("dog", "m", "shared", "edit", question, dog.chosen, dog.rejected, None, 0.0)
    asked = messages(Material(SYSTEM, WORDING, lessons=(lesson,)), "both")
    (shown,) = shown_to_the_base(tokeniser, dog, [WORDING])
    assert shown == tokeniser.item(asked, dog.chosen)
    assert shown.answer == lesson_examples(tokeniser, dog, [WORDING])[0].items[0].answer


def test_what_is_kept_is_the_teachers_and_not_what_the_base_says_without_the_lesson(
    base: BaseWeights, tokeniser: Tokeniser, dog: TrainingLesson
) -> None:
    frozen, item = Decoder(base), lesson_examples(tokeniser, dog, [WORDING])[0].items[0]
    (shown,) = shown_to_the_base(tokeniser, dog, [WORDING])
    (taught,) = kept_examples(frozen, [(item, shown)], 8, 512, lambda: None)
    with torch.no_grad():
        teacher = torch.log_softmax(frozen.logits(build_pack([shown])), -1).topk(8, -1)
    assert taught.items[0].prompt == item.prompt
    assert taught.items[0].targets == tuple(map(tuple, teacher.indices.tolist()))
    kept = torch.tensor(taught.reference[0]).view(-1, 8)
    assert torch.allclose(kept, teacher.values, atol=1e-4)
    (told,) = with_pair_references(frozen, [Example((item,))], 512, lambda: None)
    place = max(range(len(item.answer)), key=lambda number: -told.reference[0][number])
    # Where the base alone is most surprised, the lesson over the question makes it sure.
    assert item.answer[place] in taught.items[0].targets[place]
    sure = kept[place][taught.items[0].targets[place].index(item.answer[place])]
    assert float(sure) > told.reference[0][place] + 2


def test_distillation_alone_makes_the_answer_likely(
    base: BaseWeights, tokeniser: Tokeniser, dog: TrainingLesson, settings: Settings
) -> None:
    frozen, adapter = Decoder(base), new_adapter(base.config, 8, 16.0, torch.Generator().manual_seed(0))
    ways = [dog.question, WORDING]
    items = [example.items[0] for example in lesson_examples(tokeniser, dog, ways)]
    taught = kept_examples(
        frozen, list(zip(items, shown_to_the_base(tokeniser, dog, ways), strict=True)), 32, 512, lambda: None
    )
    decoder = Decoder(base, adapter)
    optimiser = settings.training.recipes["family"].optimiser.model_copy(
        update={"epochs": 14, "least_steps": 0, "warmup_steps": 1}
    )
    reports = Reports()
    train(decoder, adapter.parameters(), lambda _: [[Part(Distillation(), tuple(taught), 1.0)]], optimiser, reports)
    assert reports.reports[-1].loss < reports.reports[0].loss / 4
    likelihood = [
        float(Likelihood().loss(Example((item,)), [each.log_probs(build_pack([item]))]).detach())
        for each in (frozen, decoder)
        for item in items[:1]
    ]
    assert likelihood[1] < likelihood[0] / 2
