"""Corrections: what is refused, which one counts, who sees it, and how it travels."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memory.errors import (
    FileNotWritten,
    FileUnreadable,
    LessonEmpty,
    LessonTooLong,
    LessonUnchanged,
    LessonUnknown,
)
from memory.household import Household, MemberMemory
from memory.lesson_files import Exported, Imported, export_jsonl, import_jsonl
from memory.lessons import Lesson, LessonMessage
from memory.visibility import Visibility
from tests.memory.conftest import TurnedClock


def asked(question: str) -> list[LessonMessage]:
    return [{"role": "system", "content": "Be kind."}, {"role": "user", "content": question}]


def answers(household: Household) -> list[str]:
    return [lesson.chosen for lesson in household.lessons_for_training()]


@pytest.mark.parametrize("rejected", ["Se llama Toby.", " Se  llama\nToby. ", "Se llama Toby.\u00a0"])
def test_a_correction_that_changes_nothing_is_refused(memory: MemberMemory, rejected: str) -> None:
    with pytest.raises(LessonUnchanged):
        memory.lessons.add(asked("¿Cómo se llama?"), "Se llama Toby.", rejected)


def test_how_accents_are_encoded_is_no_change(memory: MemberMemory) -> None:
    with pytest.raises(LessonUnchanged):
        memory.lessons.add(asked("¿Quién?"), "Nu\u0301n\u0303ez", "N\u00fa\u00f1ez")


@pytest.mark.parametrize("chosen", ["", "  \n "])
def test_an_empty_correction_is_refused(memory: MemberMemory, chosen: str) -> None:
    with pytest.raises(LessonEmpty):
        memory.lessons.add(asked("¿Cómo?"), chosen, "Max")


@pytest.mark.parametrize("messages", [[], [{"role": "user", "content": " "}], [{"role": "assistant", "content": "x"}]])
def test_a_lesson_without_a_question_is_refused(memory: MemberMemory, messages: list[LessonMessage]) -> None:
    with pytest.raises(LessonEmpty):
        memory.lessons.add(messages, "Toby")


def test_a_lesson_longer_than_the_limit_is_refused(memory: MemberMemory) -> None:
    with pytest.raises(LessonTooLong) as caught:
        memory.lessons.add(asked("¿Cómo?"), "x" * 8001, "y")
    assert (caught.value.facts["length"], caught.value.facts["limit"]) == (8001, 8000)


def test_a_lesson_without_a_wrong_answer_is_a_lesson(household: Household, memory: MemberMemory) -> None:
    memory.lessons.add(asked("¿Cómo se llama?"), "Toby", visibility="shared")
    assert [(lesson.chosen, lesson.rejected) for lesson in household.lessons_for_training()] == [("Toby", "")]


def test_the_trainer_sees_shared_lessons_alone(household: Household, memory: MemberMemory) -> None:
    lesson = memory.lessons.add(asked("¿Cómo se llama?"), "Toby", "Max")
    assert answers(household) == []
    assert memory.lessons.share(lesson.id).visibility == "shared"
    assert answers(household) == ["Toby"]
    assert [lesson.visibility for lesson in memory.lessons.list()] == ["shared"]
    memory.lessons.unshare(lesson.id)
    assert answers(household) == []
    assert [lesson.visibility for lesson in memory.lessons.list()] == ["private"]


def test_the_latest_correction_of_a_question_is_the_one_to_train_on(
    household: Household, memory: MemberMemory, other: MemberMemory
) -> None:
    memory.lessons.add(asked("What's our dog called?"), "Toby", "Max", visibility="shared")
    later = other.lessons.add(asked("what is our DOG called"), "Rex", "Max", visibility="shared")
    memory.lessons.add(asked("¿Y el gato?"), "Mia", "Max", visibility="shared")
    assert answers(household) == ["Rex", "Mia"]
    other.lessons.withdraw(later.id)
    assert answers(household) == ["Toby", "Mia"]
    other.lessons.restore(later.id)
    assert answers(household) == ["Rex", "Mia"]


def test_every_shared_correction_is_told_also_one_that_was_corrected_again(
    household: Household, memory: MemberMemory
) -> None:
    memory.lessons.add(asked("¿Cómo se llama?"), "Toby", "Max", visibility="shared")
    withdrawn = memory.lessons.add(asked("¿Cómo se llama?"), "Rex", "Max", visibility="shared")
    memory.lessons.add(asked("como se llama"), "Luna", "Max", visibility="shared")
    memory.lessons.add(asked("¿Cómo se llama?"), "", "Luna", source="thumb", visibility="shared")
    memory.lessons.add(asked("¿Cómo se llama?"), "Pipo", "Max")
    memory.lessons.withdraw(withdrawn.id)
    assert [lesson.chosen for lesson in household.corrections()] == ["Toby", "Luna"]


def test_a_later_correction_wins_also_when_the_clock_was_set_back(
    household: Household, memory: MemberMemory, clock: TurnedClock
) -> None:
    memory.lessons.add(asked("¿Cuál es la clave?"), "primera", "x", visibility="shared")
    clock.now -= 1_000_000
    memory.lessons.add(asked("¿Cuál es la clave?"), "segunda", "x", visibility="shared")
    assert answers(household) == ["segunda"]
    assert memory.recall.find("¿Cuál es la clave?", memory.member).lessons[0].lesson.chosen == "segunda"


def test_thumbs_are_kept_but_neither_trained_on_nor_recalled(household: Household, memory: MemberMemory) -> None:
    memory.lessons.add(asked("¿Cómo se llama?"), "Toby", "Max", visibility="shared")
    for _ in range(30):
        memory.lessons.add(asked("¿Cómo se llama?"), "", "Toby", source="thumb", visibility="shared")
    assert len(memory.lessons.list()) == 31
    assert answers(household) == ["Toby"]
    assert len(memory.recall.find("¿Cómo se llama?", memory.member).lessons) <= 1


def test_the_ratings_to_train_are_shared_thumbs_on_questions_that_nobody_corrected(
    household: Household, memory: MemberMemory
) -> None:
    def rate(question: str, answer: str, visibility: Visibility = "shared") -> Lesson:
        return memory.lessons.add(asked(question), answer, "", source="thumb", visibility=visibility)

    rate("¿Cómo se llama?", "Toby")
    memory.lessons.add(asked("¿cómo se llama?"), "Luna", "Toby", visibility="shared")
    rate("¿Dónde vive?", "En Soria", "private")
    memory.lessons.withdraw(rate("¿Qué come?", "Pienso").id)
    memory.lessons.add(asked("¿Cuándo nació?"), "", "Ayer", source="thumb", visibility="shared")
    rate("¿Es grande?", "Sí")
    assert [(each.chosen, each.rejected) for each in household.ratings()] == [("", "Ayer"), ("Sí", "")]


def test_an_edited_lesson_is_recalled_by_its_new_question(memory: MemberMemory) -> None:
    lesson = memory.lessons.add(asked("¿Dónde está la escalera?"), "En el garaje")
    memory.lessons.edit(lesson.id, question="¿Dónde está el taladro?", chosen="En el sótano")
    assert memory.recall.find("¿Dónde está la escalera?", memory.member).lessons == ()
    (found,) = memory.recall.find("¿Dónde está el taladro?", memory.member).lessons
    assert found.lesson.chosen == "En el sótano"
    with pytest.raises(LessonEmpty):
        memory.lessons.edit(lesson.id, chosen=" ")


def test_another_members_private_lesson_is_unknown(memory: MemberMemory, other: MemberMemory) -> None:
    lesson = memory.lessons.add(asked("¿Cómo?"), "Toby")
    with pytest.raises(LessonUnknown):
        other.lessons.share(lesson.id)
    shared = memory.lessons.share(lesson.id)
    with pytest.raises(LessonUnknown):
        other.lessons.unshare(shared.id)


# In and out


def test_exported_lessons_have_the_form_that_dpo_trainers_read_and_come_back_whole(
    memory: MemberMemory, other: MemberMemory, tmp_path: Path
) -> None:
    lesson = memory.lessons.add(asked("¿Cómo se llama?"), "Toby \u2028 señor", "Max", snapshot="v1")
    memory.lessons.add(asked("¿Y el gato?"), "Mia")
    path = tmp_path / "lessons.jsonl"
    assert export_jsonl(memory.lessons.list(), path) == Exported(written=1, left_out=1)
    (line,) = [json.loads(line) for line in path.read_text(encoding="utf-8").rstrip("\n").split("\n")]
    assert line["prompt"] == asked("¿Cómo se llama?")
    assert line["chosen"] == [{"role": "assistant", "content": "Toby \u2028 señor"}]
    assert line["rejected"] == [{"role": "assistant", "content": "Max"}]
    assert import_jsonl(other.lessons, path) == Imported(added=1, known=0)
    (back,) = other.lessons.list()
    assert (back.id, back.messages, back.chosen, back.snapshot, back.created_at) == (
        lesson.id,
        lesson.messages,
        lesson.chosen,
        "v1",
        lesson.created_at,
    )
    assert import_jsonl(other.lessons, path) == Imported(added=0, known=1)


def test_the_supervised_form_holds_lessons_without_a_wrong_answer_too(memory: MemberMemory, tmp_path: Path) -> None:
    memory.lessons.add(asked("¿Y el gato?"), "Mia")
    assert export_jsonl(memory.lessons.list(), tmp_path / "x", "supervised") == Exported(1, 0)
    assert json.loads((tmp_path / "x").read_text())["completion"] == [{"role": "assistant", "content": "Mia"}]


def test_halves_of_characters_in_a_file_do_no_harm(memory: MemberMemory, tmp_path: Path) -> None:
    line = {"prompt": "q\ud800", "chosen": "c\ud800", "rejected": "r", "snapshot": "\ud800"}
    (tmp_path / "in.jsonl").write_text(json.dumps(line))
    assert import_jsonl(memory.lessons, tmp_path / "in.jsonl").added == 1
    assert memory.lessons.list()[0].chosen == "c\ufffd"


def test_files_that_cannot_be_read_or_written_are_named(memory: MemberMemory, tmp_path: Path) -> None:
    (tmp_path / "latin").write_bytes(b"\xff\xfe\xf1")
    for path in (tmp_path / "missing", tmp_path / "latin", tmp_path):
        with pytest.raises(FileUnreadable):
            import_jsonl(memory.lessons, path)
    with pytest.raises(FileNotWritten):
        export_jsonl([], tmp_path / "missing" / "out.jsonl")
