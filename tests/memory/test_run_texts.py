"""What was taken back leaves the folders of past trainings, and nothing else does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from configs.home import Home
from memory.errors import FileNotWritten
from memory.household import Household, MemberMemory
from memory.lessons import Lesson
from memory.runlog import RunEvent, append, read
from memory.runs import Run

SECRETS = ("Kaspar", "violín")


def teach(memory: MemberMemory) -> tuple[Lesson, Lesson]:
    """A lesson to be taken back, and one that stays."""
    return (
        memory.lessons.add([{"role": "user", "content": "¿Quién es Kaspar?"}], "Un violín.", visibility="shared"),
        memory.lessons.add([{"role": "user", "content": "¿Y Toby?"}], "El perro.", visibility="shared"),
    )


def trained(household: Household, lessons: tuple[Lesson, ...], *, judged: bool = True) -> Path:
    """The folder of a run of these lessons, as a trainer leaves it."""
    run = household.runs.create("lessons")
    folder = household.home.runs / run.id
    household.runs.give(run.id, [lesson.id for lesson in lessons])
    write(folder / "inputs.json", {"run": run.id, "lessons": [as_input(lesson) for lesson in lessons]})
    examples = [{"lesson": lesson.id, "items": [{"answer": [1, 2]}]} for lesson in lessons]
    write(folder / "prepare" / "data.json", {"examples": examples, "replay": [{"answer": [3]}]})
    write(folder / "train" / "report.json", {"seconds": 1.0})
    for name in ("train/adapter.safetensors", "export/adapter.gguf", "report.md"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("Kaspar")
    answers = [{"lesson": each.id, "question": each.question, "after": each.chosen} for each in lessons]
    write(folder / "evaluate" / "measures.json", {"measures": {"lessons_right": 1.0}, "answers": answers})
    append(folder, RunEvent(1.0, "run_started"))
    for lesson in lessons:
        facts = {"name": "lesson_dropped", "id": lesson.id, "question": lesson.question}
        append(folder, RunEvent(2.0, "measure", "prepare", None, facts))
    if judged:
        (folder / "manifest.yaml").write_text("lessons:\n" + "".join(f"- id: {lesson.id}\n" for lesson in lessons))
    household.runs.finish(run.id, "shipped" if judged else "stopped")
    return folder


def write(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False))


def as_input(lesson: Lesson) -> dict[str, Any]:
    return {"id": lesson.id, "messages": list(lesson.messages), "chosen": lesson.chosen, "rejected": ""}


def everything(folder: Path) -> str:
    return "".join(path.read_text() for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("how", ["withdraw", "unshare"])
def test_a_lesson_taken_back_leaves_every_file_of_a_judged_run_and_the_others_stay(
    household: Household, memory: MemberMemory, how: str
) -> None:
    lessons = teach(memory)
    folder = trained(household, lessons)
    getattr(memory.lessons, how)(lessons[0].id)
    assert household.forget_withdrawn() == (folder.name,)
    left = everything(folder)
    assert not any(secret in left for secret in SECRETS)
    assert [each["id"] for each in json.loads((folder / "inputs.json").read_text())["lessons"]] == [lessons[1].id]
    measures = json.loads((folder / "evaluate" / "measures.json").read_text())
    assert measures["measures"] == {"lessons_right": 1.0}
    assert [each["after"] for each in measures["answers"]] == ["El perro."]
    # What a stage leaves for the next one holds its words, or what was learned of them.
    for gone in ("prepare/data.json", "train/adapter.safetensors", "export/adapter.gguf", "report.md"):
        assert not (folder / gone).exists()
    assert (folder / "train" / "report.json").is_file()
    # What it depended on stays on record, by name alone.
    assert lessons[0].id in (folder / "manifest.yaml").read_text()
    last = read(folder)[0][-1]
    assert (last.kind, last.facts) == ("lessons_withdrawn", {"lessons": [lessons[0].id]})


def test_a_run_that_was_not_judged_keeps_its_inputs_and_its_events_alone(
    household: Household, memory: MemberMemory
) -> None:
    lessons = teach(memory)
    folder = trained(household, lessons, judged=False)
    memory.lessons.withdraw(lessons[0].id)
    household.forget_withdrawn()
    assert {path.name for path in folder.rglob("*") if path.is_file()} == {"inputs.json", "events.jsonl"}
    assert not any(secret in everything(folder) for secret in SECRETS)


def test_runs_that_know_nothing_of_it_and_a_second_look_change_nothing(
    household: Household, memory: MemberMemory
) -> None:
    lessons = teach(memory)
    with_it, without = trained(household, lessons), trained(household, lessons[1:])
    before = everything(without)
    memory.lessons.withdraw(lessons[0].id)
    assert household.forget_withdrawn(lessons[0].id) == (with_it.name,)
    assert everything(without) == before
    after = everything(with_it)
    assert household.forget_withdrawn(lessons[0].id) == ()
    assert everything(with_it) == after


def test_a_lesson_that_was_only_named_as_left_out_goes_too(household: Household, memory: MemberMemory) -> None:
    lessons = teach(memory)
    folder = trained(household, lessons)
    dropped = memory.lessons.add([{"role": "user", "content": "¿Una saga?"}], "Larga.", visibility="shared")
    facts = {"name": "lesson_dropped", "id": dropped.id, "question": dropped.question}
    append(folder, RunEvent(3.0, "measure", "prepare", None, facts))
    memory.lessons.withdraw(dropped.id)
    assert household.forget_withdrawn(dropped.id) == (folder.name,)
    assert "saga" not in everything(folder)


def test_the_run_that_works_right_now_is_left_alone(household: Household, memory: MemberMemory) -> None:
    lessons = teach(memory)
    run: Run = household.runs.create("lessons")
    household.runs.give(run.id, [lessons[0].id])
    folder = household.home.runs / run.id
    write(folder / "inputs.json", {"lessons": [as_input(lessons[0])]})
    memory.lessons.withdraw(lessons[0].id)
    assert household.forget_withdrawn() == ()
    household.runs.finish(run.id, "failed")
    assert household.forget_withdrawn() == (run.id,)


def test_what_was_interrupted_is_finished_by_the_next_look(
    household: Household, memory: MemberMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    lessons = teach(memory)
    folder = trained(household, lessons)
    memory.lessons.withdraw(lessons[0].id)

    def full(*_arguments: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("configs.disk.sync", full)
        with pytest.raises(FileNotWritten) as caught:
            household.forget_withdrawn()
    assert caught.value.facts["reason"] == "No space left on device"
    assert household.forget_withdrawn() == (folder.name,)
    assert not any(secret in everything(folder) for secret in SECRETS)


def test_a_file_that_was_torn_loses_all_of_it(household: Household, memory: MemberMemory, home: Home) -> None:
    lessons = teach(memory)
    folder = trained(household, lessons)
    torn = folder / "evaluate" / "measures.json"
    torn.write_text(f'{{"lesson": "{lessons[0].id}", "text": "Kasp')
    memory.lessons.withdraw(lessons[0].id)
    household.forget_withdrawn()
    assert torn.read_text() == ""


def test_what_was_kept_to_save_time_goes_with_it_and_only_then(
    household: Household, memory: MemberMemory, home: Home
) -> None:
    lessons = teach(memory)
    trained(household, lessons)
    home.cache.mkdir(exist_ok=True)
    (home.cache / "answers.json").write_text("[[1, 2]]")
    (home.cache / "peft").mkdir()
    household.forget_withdrawn()
    assert (home.cache / "answers.json").exists()
    memory.lessons.withdraw(lessons[0].id)
    household.forget_withdrawn()
    assert [path.name for path in home.cache.iterdir()] == ["peft"]


def test_a_lesson_in_force_again_is_learned_anew_and_past_runs_stay_without_it(
    household: Household, memory: MemberMemory
) -> None:
    lessons = teach(memory)
    folder = trained(household, lessons)
    memory.lessons.withdraw(lessons[0].id)
    household.forget_withdrawn()
    memory.lessons.restore(lessons[0].id)
    assert household.forget_withdrawn() == ()
    assert lessons[0].id in {lesson.id for lesson in household.lessons_for_training()}
    assert "Kaspar" not in everything(folder)
