"""Files of lessons as people give them: every bad line is named by its number with the reason, and nothing is lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory.errors import FileNotWritten, FileUnreadable, LessonLinesWrong
from memory.household import MemberMemory
from memory.lesson_files import Imported, import_jsonl

GOOD = '{"prompt": "q1", "chosen": "c"}'
CHAT = '[{"role": "user", "content": "q"}]'


def told(memory: MemberMemory, path: Path) -> list[tuple[int, str]]:
    """Number and reason of each bad line of a file that is refused, and nothing of which is added."""
    with pytest.raises(LessonLinesWrong) as caught:
        import_jsonl(memory.lessons, path)
    assert memory.lessons.list() == []
    assert caught.value.facts["count"] == len(caught.value.bad)
    return [(line.line, line.reason) for line in caught.value.bad]


BAD = {
    "{": "not_json",
    '{"prompt": "q", "chosen": "c"': "not_json",
    '{"prompt": "q", "chosen": "c"} {"prompt": "q", "chosen": "c"}': "not_json",
    "[" * 100_000: "not_json",
    '{"prompt": ' + "9" * 5000 + "}": "not_json",
    "[]": "not_object",
    '"q"': "not_object",
    "null": "not_object",
    "{}": "missing",
    '{"prompt": "q"}': "missing",
    '{"chosen": "c"}': "missing",
    '{"prompt": "q", "chosen": 3, "rejected": "r"}': "wrong_type",
    '{"prompt": "q", "chosen": null}': "wrong_type",
    '{"prompt": 5, "chosen": "c"}': "wrong_type",
    '{"prompt": [{"role": "user"}], "chosen": "c"}': "wrong_type",
    '{"prompt": [{"role": "boss", "content": "q"}], "chosen": "c"}': "wrong_type",
    f'{{"prompt": {CHAT}, "chosen": {CHAT}}}': "wrong_type",
    f'{{"messages": {CHAT}}}': "wrong_type",
    '{"prompt": "q", "chosen": "c", "rejected": 4}': "wrong_type",
    '{"prompt": "q", "chosen": "c", "created_at": "yesterday"}': "wrong_type",
    '{"prompt": [], "chosen": "c"}': "lesson_empty",
    '{"messages": []}': "wrong_type",
    '{"prompt": "q", "chosen": " "}': "lesson_empty",
    '{"prompt": " ", "chosen": "c"}': "lesson_empty",
    '{"prompt": "q", "chosen": "same", "rejected": " same "}': "lesson_unchanged",
    json.dumps({"prompt": "q", "chosen": "x" * 8001}): "lesson_too_long",
    '{"prompt": "<|im_start|>user\\nq<|im_end|>", "completion": "c"}': "templated",
    '{"prompt": "<s>[INST] q [/INST]", "completion": "c"}': "templated",
}


@pytest.mark.parametrize(("bad", "reason"), BAD.items())
def test_a_bad_line_is_named_by_its_number_and_nothing_is_added(
    memory: MemberMemory, tmp_path: Path, bad: str, reason: str
) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text(f"{GOOD}\n\n{bad}\n", encoding="utf-8")
    assert told(memory, path) == [(3, reason)]


def test_all_bad_lines_are_named_at_once(memory: MemberMemory, tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text("\n".join([GOOD, *BAD, GOOD]), encoding="utf-8")
    assert told(memory, path) == list(enumerate(BAD.values(), start=2))


def test_a_line_in_another_encoding_is_named_and_the_others_are_read(memory: MemberMemory, tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    latin = '{"prompt": "¿Quién?", "chosen": "Ñandú"}'.encode("latin-1")
    path.write_bytes(GOOD.encode() + b"\n" + latin + b"\n")
    assert told(memory, path) == [(2, "not_utf8")]


def test_the_good_lines_are_added_and_the_bad_ones_kept_byte_for_byte(memory: MemberMemory, tmp_path: Path) -> None:
    path, aside = tmp_path / "in.jsonl", tmp_path / "bad.jsonl"
    bad = [b"{", b'{"prompt": "\xf1"}', b'{"prompt": "q"}  ']
    path.write_bytes(b"\n".join([bad[0], GOOD.encode(), bad[1], bad[2]]))
    done = import_jsonl(memory.lessons, path, bad_to=aside)
    assert (done.added, [(line.line, line.reason) for line in done.bad]) == (
        1,
        [(1, "not_json"), (3, "not_utf8"), (4, "missing")],
    )
    assert aside.read_bytes() == b"\n".join(bad) + b"\n"
    assert [lesson.question for lesson in memory.lessons.list()] == ["q1"]


def test_nothing_is_added_where_the_bad_lines_cannot_be_kept(memory: MemberMemory, tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text(f"{GOOD}\n{{\n", encoding="utf-8")
    with pytest.raises(FileNotWritten):
        import_jsonl(memory.lessons, path, bad_to=tmp_path / "no" / "where")
    assert memory.lessons.list() == []


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("ends", ["\n", "\r\n", "\n\n \n"])
def test_marks_and_line_ends_of_other_systems_change_nothing(
    memory: MemberMemory, tmp_path: Path, encoding: str, ends: str
) -> None:
    path = tmp_path / "in.jsonl"
    path.write_bytes(ends.join([GOOD, '{"prompt": "¿Y la ñ?", "chosen": "👨‍👩‍👧 \u2028 fin"}', ""]).encode(encoding))
    assert import_jsonl(memory.lessons, path) == Imported(2, 0)
    assert {lesson.chosen for lesson in memory.lessons.list()} == {"c", "👨‍👩‍👧 \u2028 fin"}


def test_half_a_file_in_utf16_is_unreadable(memory: MemberMemory, tmp_path: Path) -> None:
    (tmp_path / "half").write_bytes(GOOD.encode("utf-16")[:-1])
    with pytest.raises(FileUnreadable):
        import_jsonl(memory.lessons, tmp_path / "half")


def test_a_conversation_whose_last_message_is_the_answer_is_a_lesson(memory: MemberMemory, tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    messages = [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "What is <|im_start|>?"},
        {"role": "assistant", "content": "A mark."},
    ]
    path.write_text(json.dumps({"messages": messages}), encoding="utf-8")
    assert import_jsonl(memory.lessons, path).added == 1
    (lesson,) = memory.lessons.list()
    assert (list(lesson.messages), lesson.chosen) == (messages[:2], "A mark.")


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.binary(max_size=40) | st.sampled_from([GOOD.encode(), *(bad.encode() for bad in list(BAD)[5:])])))
def test_any_bytes_are_lessons_or_bad_lines_and_none_is_lost(
    memory: MemberMemory, tmp_path: Path, lines: list[bytes]
) -> None:
    content = b"\n".join(line.replace(b"\n", b"") for line in lines)
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return
    path, aside = tmp_path / "in.jsonl", tmp_path / "bad.jsonl"
    path.write_bytes(content)
    aside.unlink(missing_ok=True)
    done = import_jsonl(memory.lessons, path, bad_to=aside)
    filled = [line for line in content.removeprefix(b"\xef\xbb\xbf").split(b"\n") if line.strip()]
    assert done.added + done.known + len(done.bad) == len(filled)
    assert [line.raw for line in done.bad] == [line for line in filled if line != GOOD.encode()]
