"""Lessons in and out as JSON Lines in the conversational forms that TRL's trainers read.

https://huggingface.co/docs/trl/dataset_formats: preference lines hold ``prompt``, ``chosen`` and ``rejected``
(DPOTrainer), prompt-completion lines hold ``prompt`` and ``completion`` (SFTTrainer). Further keys are ignored
there and bring a lesson back whole here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from configs.errors import Fact
from memory.clock import iso, seconds_of
from memory.errors import LessonEmpty, LessonLinesWrong, LessonTooLong, LessonUnchanged
from memory.lessons import Lesson, Lessons
from memory.text import storable
from memory.text_lines import numbered_lines
from memory.visibility import Visibility
from memory.whole_files import refuse_to_replace, write_new
from memory.wording import question_key

Form = Literal["preference", "supervised"]
# Lessons sort by their id, so an id of another program's making is not kept.
_OWN_ID = re.compile("[0-9a-f]{32}")
# How a text begins into which a chat template was put already: its turns cannot be told apart for certain any more.
TEMPLATED = re.compile(
    r"\s*(?:<s>|<bos>|<\|begin_of_text\|>)?\s*(?:<\|im_start\|>|<\|start_header_id\|>|<start_of_turn>|\[INST\])"
)
_ROLES = ("system", "user", "assistant", "tool")


@dataclass(frozen=True)
class Exported:
    """How many lessons were written, and how many cannot be told in this form."""

    written: int
    left_out: int


@dataclass(frozen=True)
class BadLine:
    """A line that is no lesson. ``raw``: the line itself, without its line feed.

    ``reason``: not_utf8, not_json, not_object, missing, wrong_type, templated, or an error's code; ``facts`` say more.
    """

    line: int
    reason: str
    facts: Mapping[str, Fact]
    raw: bytes


@dataclass(frozen=True)
class Imported:
    """How many lessons were added, how many were there already, and which lines are none."""

    added: int
    known: int
    bad: tuple[BadLine, ...] = ()


def export_jsonl(lessons: Iterable[Lesson], path: Path, form: Form = "preference") -> Exported:
    """Write the text of ``as_jsonl``; the file appears whole. Raises FileInTheWay, FileNotWritten."""
    text, done = as_jsonl(lessons, form)
    write_new(path, text)
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


def import_jsonl(lessons: Lessons, path: Path, *, shared: bool = False, bad_to: Path | None = None) -> Imported:
    """Add the lessons of a file as this member's: all of them, or none. Those that are there already stay as they are.

    ``bad_to``: a new file that gets the lines that are no lesson, byte for byte; the others are added then.
    Raises FileInTheWay, FileUnreadable, LessonLinesWrong, FileNotWritten.
    """
    if bad_to is not None:
        refuse_to_replace(bad_to)
    visibility: Visibility = "shared" if shared else "private"
    known_ids = {lesson.id for lesson in lessons.list()}
    known = {_content(lesson) for lesson in lessons.list(status="active")}
    added = left = 0
    bad: list[BadLine] = []
    # Read to its end before the transaction: a pipe may keep us waiting, and nobody else could write meanwhile.
    lines = list(_parsed(path))
    with lessons.together(visibility):
        for line in lines:
            if isinstance(line, BadLine):
                bad.append(line)
                continue
            number, raw, fields = line
            content = (question_key(fields["prompt"][-1]["content"]), fields["chosen"], fields["rejected"])
            if fields["id"] in known_ids or content in known:
                left += 1
                continue
            try:
                lessons.add(
                    fields["prompt"],
                    fields["chosen"],
                    fields["rejected"],
                    visibility=visibility,
                    source="import",
                    snapshot=fields["snapshot"],
                    lesson_id=fields["id"],
                    created_at=fields["created_at"],
                )
            except (LessonEmpty, LessonUnchanged, LessonTooLong) as error:
                bad.append(BadLine(number, error.code, error.facts, raw))
                continue
            known.add(content)
            added += 1
        if bad and bad_to is None:
            raise LessonLinesWrong(bad, file=str(path), count=len(bad))
        if bad and bad_to is not None:
            write_new(bad_to, b"".join(each.raw + b"\n" for each in bad))
    return Imported(added, left, tuple(bad))


def already_there(lessons: Lessons, question: str, chosen: str, rejected: str, seen_by: Visibility) -> Lesson | None:
    """The lesson that says the very same already, where no later one has another answer to its question."""
    content = (question_key(storable(question)), storable(chosen), storable(rejected))
    # A question without a letter has no key by which it could be told from another.
    for lesson in lessons.list(status="active") if content[0] else ():
        if lesson.source == "thumb" or question_key(lesson.question) != content[0]:
            continue
        if _content(lesson) != content:
            return None
        if lesson.visibility == seen_by:
            return lesson
    return None


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


def _parsed(path: Path) -> Iterator[BadLine | tuple[int, bytes, dict[str, Any]]]:
    """Number, bytes and fields of each line that is not blank. Raises FileUnreadable."""
    for number, raw in numbered_lines(path):
        try:
            yield number, raw, _checked(_object(raw))
        except _Wrong as wrong:
            yield BadLine(number, wrong.reason, wrong.facts, raw)


class _Wrong(Exception):
    """Why a line is no lesson. ``reason``: the name of a text of the catalogues, whose facts are ``facts``."""

    def __init__(self, reason: str, **facts: Fact) -> None:
        super().__init__(reason)
        self.reason = reason
        self.facts = facts


def _object(raw: bytes) -> dict[str, Any]:
    """Raises _Wrong."""
    try:
        value = json.loads(raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise _Wrong("not_utf8", column=error.start + 1) from error
    except json.JSONDecodeError as error:
        raise _Wrong("not_json", column=error.colno) from error
    except (ValueError, RecursionError) as error:
        # A number of more digits than Python reads, or brackets in brackets without end.
        raise _Wrong("not_json", column=1) from error
    if not isinstance(value, dict):
        raise _Wrong("not_object")
    return value


def _checked(line: dict[str, Any]) -> dict[str, Any]:
    """A line with plain texts for answers. Raises _Wrong."""
    if "messages" in line and "prompt" not in line:
        # SFTTrainer's other form: the answer is the last message.
        *prompt, last = _messages(line["messages"], "messages") or [{}]
        chosen = _answer([last], "messages")
    else:
        prompt = _messages(_field(line, "prompt"), "prompt")
        name = "completion" if "completion" in line and "chosen" not in line else "chosen"
        chosen = _answer(_field(line, name), name)
    if not prompt:
        raise _Wrong("lesson_empty", part="question")
    if isinstance(line.get("prompt"), str) and TEMPLATED.match(line["prompt"]):
        raise _Wrong("templated")
    lesson_id, created_at = line.get("id"), line.get("created_at")
    snapshot = line.get("snapshot")
    return {
        "id": lesson_id if isinstance(lesson_id, str) and _OWN_ID.fullmatch(lesson_id) else None,
        "prompt": prompt,
        "chosen": chosen,
        "rejected": _answer(line.get("rejected") or "", "rejected"),
        "snapshot": snapshot if isinstance(snapshot, str) else None,
        "created_at": _seconds(created_at) if isinstance(created_at, str) else None,
    }


def _field(line: Mapping[str, Any], name: str) -> Any:
    """Raises _Wrong where the line has no such field."""
    if name not in line:
        raise _Wrong("missing", field=name)
    return line[name]


def _seconds(text: str) -> float:
    try:
        return seconds_of(text)
    except (ValueError, OverflowError) as error:
        raise _Wrong("wrong_type", field="created_at") from error


def _messages(value: Any, part: str) -> list[dict[str, str]]:
    if isinstance(value, str):
        return [{"role": "user", "content": value}]
    good = isinstance(value, list) and all(
        isinstance(m, dict) and m.get("role") in _ROLES and isinstance(m.get("content"), str) for m in value
    )
    if not good:
        raise _Wrong("wrong_type", field=part)
    return [{"role": m["role"], "content": m["content"]} for m in value]


def _answer(value: Any, part: str) -> str:
    if isinstance(value, str):
        return value
    messages = _messages(value, part)
    if len(messages) != 1 or messages[0]["role"] != "assistant":
        raise _Wrong("wrong_type", field=part)
    return messages[0]["content"]
