"""Objects are found in a large file whatever the blocks are in which it is read, and what is broken is named."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.imports.elements import Element, as_utf8, elements

MOST = 1_000
TEXTS = st.text(alphabet=st.sampled_from('ab"\\{}[],\n ñ👨‍👩‍👧'), max_size=12)
OBJECTS = st.dictionaries(
    TEXTS, st.recursive(TEXTS | st.none(), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner)),
    max_size=3,
)  # fmt: skip


def cut(content: bytes, size: int) -> Iterator[bytes]:
    return (content[place : place + size] for place in range(0, len(content), size))


def read(content: bytes, size: int = 7, most: int = MOST) -> list[Element]:
    return list(elements(as_utf8(cut(content, size)), most))


@settings(max_examples=40)
@given(
    st.lists(OBJECTS, max_size=4), st.integers(1, 40), st.sampled_from(["array", "laid out", "lines"]), st.booleans()
)
def test_every_object_is_found_in_every_form_and_in_blocks_of_any_size(
    objects: list[Any], size: int, form: str, ascii_alone: bool
) -> None:
    if form == "lines":
        text = "".join(json.dumps(each, ensure_ascii=ascii_alone) + "\n" for each in objects)
    else:
        text = json.dumps(objects, ensure_ascii=ascii_alone, indent=2 if form == "laid out" else None)
    content = text.encode()
    found = read(content, size, len(content))
    assert [json.loads(each.raw) for each in found] == objects
    assert [each.number for each in found] == list(range(1, len(objects) + 1))
    assert all(content[each.at :].startswith(each.raw) and not each.problem for each in found)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_file_that_another_program_has_saved_anew_is_read_the_same(encoding: str) -> None:
    objects = [{"a": "ñandú 👨‍👩‍👧"}, {"b": "}"}]
    found = read(json.dumps(objects, ensure_ascii=False).encode(encoding), 3)
    assert [json.loads(each.raw) for each in found] == objects


def test_where_a_file_ends_too_early_is_told_and_what_came_before_is_read() -> None:
    whole = json.dumps([{"a": 1}, {"b": "two"}]).encode()
    for end in range(len(whole)):
        found = read(whole[:end])
        good = [json.loads(each.raw) for each in found if not each.problem]
        assert good == [{"a": 1}, {"b": "two"}][: len(good)]
        assert end == 0 or found[-1].problem == "cut_off"


def test_one_object_too_large_does_not_keep_the_next_from_being_read() -> None:
    found = read(json.dumps([{"a": "x" * MOST}, {"b": 1}]).encode())
    assert [(each.number, each.problem, len(each.raw) <= MOST) for each in found] == [
        (1, "too_large", True),
        (2, "", True),
    ]


def test_a_broken_line_costs_that_line_alone() -> None:
    found = read(b'{"a": 1}\n{"b": "not closed\n[1]\n\n{"c": 3}')
    assert [(each.number, each.problem) for each in found] == [(1, ""), (2, ""), (3, "not_object"), (4, "")]
    assert json.loads(found[3].raw) == {"c": 3}


def test_what_is_no_object_in_a_list_is_named_and_passed_over() -> None:
    found = read(b'[1, {"a": 1}, null, "x", [2], {"b": 2}]')
    assert [json.loads(each.raw) for each in found if each.raw.startswith(b"{")] == [{"a": 1}, {"b": 2}]
    assert [each.number for each in found if not each.problem and each.raw.startswith(b"{")] == [2, 6]
