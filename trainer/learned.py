"""Which lessons a training has put into the weights, by what its evaluation measured."""

from __future__ import annotations

from collections.abc import Iterable

from memory.lessons import Lesson
from trainer.lessons import TrainingLesson
from trainer.run_files import RunFiles, read_json


def learned(files: RunFiles, trained: Iterable[TrainingLesson], lessons: Iterable[Lesson]) -> list[str]:
    """The ids of those of ``lessons`` that the candidate answered right without memory, whichever way they were asked.

    A lesson that was only asked as it was taught, and in no other wording, does not count, nor does one that was
    changed since. Raises TrainingDataBroken.
    """
    asked: dict[str, list[bool]] = {}
    reworded = set()
    for answer in read_json(files.measures)["answers"]:
        asked.setdefault(answer["lesson"], []).append(answer["after_right"])
        if answer["held_out"]:
            reworded.add(answer["lesson"])
    texts = {lesson.id: (lesson.question, lesson.chosen) for lesson in trained}
    return [
        lesson.id
        for lesson in lessons
        if lesson.id in reworded and all(asked[lesson.id]) and texts.get(lesson.id) == (lesson.question, lesson.chosen)
    ]
