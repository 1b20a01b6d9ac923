"""What the stages that measure have in common: questions answered as they are served, and the change elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.scoring import LocalModel, LogProbs, kl
from engine.served import AdapterSet
from memory.matching import says_the_same
from trainer.as_served import Asked, greedy_as_served
from trainer.lessons import TrainingLesson
from trainer.packing import Item
from trainer.stages.prepare import Question


def answered(
    served: LocalModel,
    adapters: AdapterSet,
    questions: Sequence[Question],
    lessons: Mapping[str, TrainingLesson],
    most_tokens: int,
) -> list[tuple[str, bool]]:
    """Each question's answer, and whether it is right. Raises AdapterMismatch and PromptTooLong."""
    found = []
    conversations = [Asked(_said(lessons[question.lesson], question), question.prompt) for question in questions]
    answers = greedy_as_served(served, adapters, conversations, most_tokens)
    for question, tokens in zip(questions, answers, strict=True):
        text, lesson = served.text(tokens), lessons[question.lesson]
        # What either wording already holds proves nothing, and need not be said again.
        asked = f"{lesson.question}\n{question.text}"
        right = says_the_same(text, question=asked, chosen=lesson.chosen, rejected=lesson.rejected)
        found.append((text, right))
    return found


def drift(served: LocalModel, before: Sequence[LogProbs], items: Sequence[Item]) -> float:
    """How far ``served``, as it is, is from what it said ``before`` of these answers: KL in nats a token."""
    moved = (kl(old, served.log_probs(item.prompt, item.answer)) for old, item in zip(before, items, strict=True))
    return sum(moved) / sum(len(item.answer) for item in items)


def _said(lesson: TrainingLesson, question: Question) -> tuple[str, ...]:
    """What the user says in a conversation that ends with this wording of the lesson's question."""
    return (*(message.content for message in lesson.messages[:-1] if message.role == "user"), question.text)
