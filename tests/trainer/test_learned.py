"""Which lessons a training has put into the weights, by the answers that its evaluation kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.messages import Message
from memory.lessons import Lesson
from trainer.learned import learned
from trainer.lessons import TrainingLesson
from trainer.run_files import RunFiles, write_json


def lesson(name: str, chosen: str = "Toby.") -> Lesson:
    messages = ({"role": "user", "content": f"{name}?"},)
    return Lesson(name, "ana", "shared", "edit", messages, chosen, "", None, 0.0)


def answer(name: str, *, held_out: bool, right: bool) -> dict[str, object]:
    return {"lesson": name, "held_out": held_out, "after_right": right}


@pytest.fixture
def files(tmp_path: Path) -> RunFiles:
    found = RunFiles(tmp_path)
    found.measures.parent.mkdir(parents=True)
    asked = [
        *(answer("known", held_out=held_out, right=True) for held_out in (False, True, True)),
        answer("half", held_out=False, right=True),
        answer("half", held_out=True, right=False),
        answer("once", held_out=False, right=True),
        answer("changed", held_out=True, right=True),
        answer("gone", held_out=True, right=True),
    ]
    write_json(found.measures, {"answers": asked})
    return found


def test_learned_is_what_was_answered_right_however_it_was_asked_and_is_the_same_still(files: RunFiles) -> None:
    names = ("known", "half", "once", "changed", "gone")
    trained = [TrainingLesson(name, (Message("user", f"{name}?"),), "Toby.", "") for name in names]
    now = [lesson("known"), lesson("half"), lesson("once"), lesson("changed", "Rex."), lesson("new")]
    assert learned(files, trained, now) == ["known"]
