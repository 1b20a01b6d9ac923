"""Lessons in and out as JSON Lines in the conversational forms that TRL's trainers read.

https://huggingface.co/docs/trl/dataset_formats: preference lines hold ``prompt``, ``chosen`` and ``rejected``
(DPOTrainer), prompt-completion lines hold ``prompt`` and ``completion`` (SFTTrainer). Further keys are ignored
there and bring a lesson back whole here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from memory.clock import iso, seconds_of
from memory.errors import FileUnreadable, LessonEmpty, LessonLineWrong, LessonTooLong, LessonUnchanged
from memory.lessons import Lesson, Lessons
from memory.visibility import Visibility
from memory.whole_files import write_whole
from memory.wording import question_key

Form = Literal["preference", "supervised"]
# Lessons sort by their id, so an id of another program's making is not kept.
_OWN_ID = re.compile("[0-9a-f]{32}")
_ROLES = ("system", "user", "assistant", "tool")


@dataclass(frozen=True)
class Exported:
    """How many lessons were written, and how many cannot be told in this form."""

    written: int
    left_out: int


@dataclass(frozen=True)
class Imported:
    """How many lessons were added, and how many were there already."""

    added: int
    known: int


def export_jsonl(lessons: Iterable[Lesson], path: Path, form: Form = "preference") -> Exported:
    """Write the text of ``as_jsonl``; the file appears whole. Raises FileNotWritten."""
    text, done = as_jsonl(lessons, form)
    write_whole(path, text)
    return done


def as_jsonl(lessons: Iterable[Lesson], form: Form = "preference") -> tuple[str, Exported]:
    """Lessons as JSON, one a line, and how many.

    ``preference`` leaves out lessons without a rejected answer, which DPOTrainer cannot read; ``supervised``
    writes every lesson with a chosen answer.
    """
    lines, left_out = [], 0
    for lesson in lessons:
        if not lesson.chosen or (form == "preference" and not lesson.rejected):
            left_out += 1
        else:
            lines.append(json.dumps(_line(lesson, form), ensure_ascii=False) + "\n")
    return "".join(lines), Exported(len(lines), left_out)


def import_jsonl(lessons: Lessons, path: Path, *, shared: bool = False) -> Imported:
    """Add the lessons of a file as this member's: all of them, or none. Those that are there already stay as they are.

    Raises FileUnreadable, LessonLineWrong.
    """
    visibility: Visibility = "shared" if shared else "private"
    known_ids = {lesson.id for lesson in lessons.list()}
    known = {_content(lesson) for lesson in lessons.list(status="active")}
    added = left = 0
    # Read to its end before the transaction: a pipe may keep us waiting, and nobody else could write meanwhile.
    lines = list(_parsed(path))
    with lessons.together(visibility):
        for number, line in lines:
            content = (question_key(line["prompt"][-1]["content"]), line["chosen"], line["rejected"])
            if line["id"] in known_ids or content in known:
                left += 1
                continue
            try:
                lessons.add(
                    line["prompt"],
                    line["chosen"],
                    line["rejected"],
                    visibility=visibility,
                    source="import",
                    snapshot=line["snapshot"],
                    lesson_id=line["id"],
                    created_at=line["created_at"],
                )
            except (LessonEmpty, LessonUnchanged, LessonTooLong) as error:
                raise LessonLineWrong(file=str(path), line=number, reason=error.code) from error
            known.add(content)
            added += 1
    return Imported(added, left)


def _content(lesson: Lesson) -> tuple[str, str, str]:
    return question_key(lesson.question), lesson.chosen, lesson.rejected


def _line(lesson: Lesson, form: Form) -> dict[str, Any]:
    answer = [{"role": "assistant", "content": lesson.chosen}]
    line: dict[str, Any] = {"prompt": list(lesson.messages)}
    if form == "preference":
        line |= {"chosen": answer, "rejected": [{"role": "assistant", "content": lesson.rejected}]}
    else:
        line |= {"completion": answer}
    return line | {
        "id": lesson.id,
        "member": lesson.member,
        "source": lesson.source,
        "snapshot": lesson.snapshot,
        "created_at": iso(lesson.created_at),
    }


def _parsed(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise FileUnreadable(path=str(path), reason=str(error)) from error
    # Not splitlines(): JSON allows U+2028 inside a string.
    for number, raw in enumerate(text.split("\n"), start=1):
        if raw.strip():
            try:
                yield number, _checked(json.loads(raw))
            except (ValueError, KeyError, TypeError, RecursionError) as error:
                raise LessonLineWrong(file=str(path), line=number, reason=str(error)) from error


def _checked(line: Any) -> dict[str, Any]:
    """A line with plain texts for answers. Raises ValueError, KeyError, TypeError with what is wrong."""
    if not isinstance(line, dict):
        raise ValueError("the line is not an object")
    prompt = _messages(line["prompt"], "prompt")
    if not prompt:
        raise ValueError('"prompt" is empty')
    lesson_id, created_at = line.get("id"), line.get("created_at")
    snapshot = line.get("snapshot")
    return {
        "id": lesson_id if isinstance(lesson_id, str) and _OWN_ID.fullmatch(lesson_id) else None,
        "prompt": prompt,
        "chosen": _answer(line["chosen"] if "chosen" in line else line["completion"], "chosen"),
        "rejected": _answer(line.get("rejected") or "", "rejected"),
        "snapshot": snapshot if isinstance(snapshot, str) else None,
        "created_at": seconds_of(created_at) if isinstance(created_at, str) else None,
    }


def _messages(value: Any, part: str) -> list[dict[str, str]]:
    if isinstance(value, str):
        return [{"role": "user", "content": value}]
    good = isinstance(value, list) and all(
        isinstance(m, dict) and m.get("role") in _ROLES and isinstance(m.get("content"), str) for m in value
    )
    if not good:
        raise ValueError(f'"{part}" is neither a text nor a list of messages with role and content')
    return [{"role": m["role"], "content": m["content"]} for m in value]


def _answer(value: Any, part: str) -> str:
    if isinstance(value, str):
        return value
    messages = _messages(value, part)
    if len(messages) != 1 or messages[0]["role"] != "assistant":
        raise ValueError(f'"{part}" is not one message of the assistant')
    return messages[0]["content"]
