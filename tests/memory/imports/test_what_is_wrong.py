"""What is no conversation, or not whole, is named with its place; and no archive does harm."""

from __future__ import annotations

import copy
import json
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from configs.errors import EnlaceError
from memory.errors import (
    ExportDamaged,
    ExportEntriesWrong,
    ExportTooLarge,
    ExportUnrecognised,
    FileInTheWay,
    FileUnreadable,
)
from memory.household import MemberMemory
from memory.imports.reading import entries
from memory.imports.sources import Part
from tests.memory.imports.conftest import Take
from tests.memory.imports.exports_of_others import chatgpt, claude, open_webui

BROKEN: dict[str, tuple[Any, str]] = {
    "mapping is a list": (chatgpt() | {"mapping": []}, "wrong_type"),
    "no id": ({"chat_messages": []}, "missing"),
    "another program's": ({"hello": "world"}, "unrecognised"),
    "a message without an id": (claude() | {"chat_messages": [{"sender": "human", "text": "x"}]}, "missing"),
    "a title that is a number": (chatgpt() | {"title": 7}, "wrong_type"),
    "an id that is a list": (claude() | {"chat_messages": [{"uuid": [], "sender": "human", "text": "x"}]}, "missing"),
}

_NOBODY_WRITES: tuple[Any, ...] = ([], {}, [[]], 1, True, "\ud800")


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_no_conversation_is_named_with_its_place_and_nothing_is_added(
    memory: MemberMemory, take: Take, name: str
) -> None:
    bad, reason = BROKEN[name]
    with pytest.raises(ExportEntriesWrong) as caught:
        take([chatgpt("uno"), bad, chatgpt("dos")])
    (entry,) = caught.value.bad
    assert (entry.file, entry.number, entry.reason) == ("export.json", 2, reason)
    assert memory.chats.list() == []


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_no_conversation_is_left_out_into_a_file_where_one_is_named(
    memory: MemberMemory, take: Take, tmp_path: Path, name: str
) -> None:
    bad, _ = BROKEN[name]
    done = take([chatgpt("uno"), bad, chatgpt("dos")], bad_to=tmp_path / "bad.jsonl")
    assert (done.conversations, done.bad_count) == (2, 1)
    assert json.loads((tmp_path / "bad.jsonl").read_text(encoding="utf-8")) == bad
    with pytest.raises(FileInTheWay):
        take([chatgpt()], bad_to=tmp_path / "bad.jsonl")


def test_a_half_written_export_is_told_as_such_and_what_is_whole_of_it_can_be_taken(
    memory: MemberMemory, take: Take, tmp_path: Path
) -> None:
    half = json.dumps([chatgpt("uno"), chatgpt("dos")]).encode()[:-300]
    with pytest.raises(ExportEntriesWrong) as caught:
        take(half)
    assert [(entry.number, entry.reason) for entry in caught.value.bad] == [(2, "cut_off")]
    assert take(half, bad_to=tmp_path / "bad").conversations == 1


def test_letters_in_a_wrong_encoding_are_told_by_their_place(take: Take) -> None:
    content = json.dumps([claude("uno"), claude("año")], ensure_ascii=False).replace("…", "").encode("latin-1")
    with pytest.raises(ExportEntriesWrong) as caught:
        take(content)
    assert {entry.reason for entry in caught.value.bad} == {"not_utf8"}


@pytest.mark.parametrize("content", [b"", b"hello", b"[]", b"<html>", b'{"a": 1}', b"\x00" * 100])
def test_a_file_of_another_kind_is_told_as_such(take: Take, content: bytes) -> None:
    with pytest.raises(ExportUnrecognised):
        take(content)


def zipped(path: Path, **files: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def test_an_archive_is_read_as_it_was_fetched_also_in_several_pieces(
    memory: MemberMemory, take: Take, tmp_path: Path
) -> None:
    archive = zipped(
        tmp_path / "export.zip",
        **{
            "x/conversations-000.json": json.dumps([chatgpt("uno")]).encode(),
            "x/conversations-001.json": json.dumps([chatgpt("dos")]).encode(),
            "../../conversations.json": json.dumps([chatgpt("tres")]).encode(),
            "x/user.json": b'{"email": "a@b.c"}',
            "__MACOSX/x/conversations-000.json": b"\x00\x05\x16\x07",
            "chat.html": b"<html>",
        },
    )
    before = sorted(tmp_path.rglob("*"))
    assert take(archive).conversations == 3
    assert {conversation.title for conversation in memory.chats.list()} == {"uno", "dos", "tres"}
    assert [path for path in sorted(tmp_path.rglob("*")) if "home" not in path.parts and path not in before] == []


def test_a_folder_that_was_unpacked_is_read_too(memory: MemberMemory, take: Take, tmp_path: Path) -> None:
    folder = tmp_path / "unpacked"
    folder.mkdir()
    (folder / "conversations.json").write_text(json.dumps([chatgpt()]), encoding="utf-8")
    (folder / "user.json").write_text("{}", encoding="utf-8")
    assert take(folder).conversations == 1


def test_an_archive_that_swells_beyond_the_limit_is_refused_before_it_is_read(take: Take, tmp_path: Path) -> None:
    bomb = zipped(tmp_path / "bomb.zip", **{"conversations.json": b" " * 3_000_000})
    assert bomb.stat().st_size < 10_000
    with pytest.raises(ExportTooLarge):
        take(bomb, file_megabytes=2)


def test_an_archive_that_promises_less_than_it_holds_is_not_read_further(take: Take, tmp_path: Path) -> None:
    path = zipped(tmp_path / "lying.zip", **{"conversations.json": json.dumps([chatgpt()] * 50).encode()})
    content, size = path.read_bytes(), len(json.dumps([chatgpt()] * 50))
    path.write_bytes(content.replace(size.to_bytes(4, "little"), (100).to_bytes(4, "little")))
    with pytest.raises((ExportDamaged, ExportEntriesWrong)):
        take(path)


def test_one_conversation_beyond_the_limit_is_bad_and_the_others_are_taken(take: Take, tmp_path: Path) -> None:
    large = chatgpt("grande")
    large["mapping"]["q1"]["message"]["content"]["parts"] = ["x" * 2_000_000]
    done = take([large, chatgpt("uno")], bad_to=tmp_path / "bad", entry_megabytes=1)
    assert (done.conversations, [entry.reason for entry in done.bad]) == (1, ["too_large"])


@pytest.mark.parametrize("kept", [0.2, 0.9])
def test_half_an_archive_is_told_as_such(take: Take, tmp_path: Path, kept: float) -> None:
    path = zipped(tmp_path / "half.zip", **{"conversations.json": json.dumps([chatgpt()] * 50).encode()})
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * kept)])
    with pytest.raises(EnlaceError) as caught:
        take(path)
    assert caught.value.code in ("export_damaged", "export_unrecognised")


def test_a_file_that_is_not_there_or_cannot_be_read_twice_is_told(take: Take, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "nothing.zip", tmp_path / "pipe"):
        with pytest.raises(FileUnreadable):
            take(path)


@pytest.mark.parametrize("form", [chatgpt(), claude(), open_webui()], ids=["chatgpt", "claude", "open_webui"])
def test_whatever_stands_in_the_place_of_a_value_an_entry_is_read_or_named(form: dict[str, Any]) -> None:
    wrong = [json.dumps(each).encode() + b"\n" for each in _with_something_else(form)]
    part = Part("export.jsonl", 0, lambda: iter(wrong))
    assert len(list(entries([part], 1, lambda done, whole: None))) == len(wrong)


def _with_something_else(form: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The same entry again and again, each time with another of its values as something that nobody writes there."""
    for path in _paths(form):
        for value in _NOBODY_WRITES:
            changed: Any = copy.deepcopy(form)
            at = changed
            for step in path[:-1]:
                at = at[step]
            at[path[-1]] = value
            yield changed


def _paths(value: Any) -> Iterator[tuple[Any, ...]]:
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, below in steps:
        yield (step,)
        yield from ((step, *rest) for rest in _paths(below))
