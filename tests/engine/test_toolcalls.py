"""Tool calls are found in what a model writes, however it is cut; what is no call stays the text that it is."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.answers import Called, Delta, Piece
from engine.callforms import Offered
from engine.messages import ToolCall
from engine.toolcalls import CallReader
from tests.engine.pieces import cut, joined

MOST = 16


def tool(name: str, **properties: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": {key: {"type": kind} for key, kind in properties.items()}}
    return {"type": "function", "function": {"name": name, "description": f"What {name} does", "parameters": schema}}


TOOLS = [tool("add_item", item="string", number="integer"), tool("now")]
Made = tuple[str, dict[str, Any]]
MILK: Made = ("add_item", {"item": "milk"})
EGGS: Made = ("add_item", {"item": "eggs", "number": 6})
NOW: Made = ("now", {})
HERMES_MILK = '<tool_call>\n{"name": "add_item", "arguments": {"item": "milk"}}\n</tool_call>'
HERMES_NOW = '<tool_call>{"name": "now", "arguments": {}}</tool_call>'
SCHEMA = json.dumps(TOOLS[0]["function"]["parameters"])

CALLS: dict[str, tuple[str, str, list[Made]]] = {
    "Hermes": (HERMES_MILK, "", [MILK]),
    "Hermes, two and words around": (f"Sure.\n{HERMES_MILK}\n{HERMES_NOW}\nDone.", "Sure.Done.", [MILK, NOW]),
    "Hermes, its end in a string": (
        '<tool_call>{"name": "add_item", "arguments": {"item": "</tool_call>"}}</tool_call>',
        "",
        [("add_item", {"item": "</tool_call>"})],
    ),
    "Hermes, its end forgotten": ('<tool_call>{"name": "now", "arguments": {}}', "", [NOW]),
    "Hermes, its end forgotten between two": (f"{HERMES_NOW[: -len('</tool_call>')]}\n{HERMES_MILK}", "", [NOW, MILK]),
    "Hermes, arguments in a text": (
        '<tool_call>{"name": "add_item", "arguments": "{\\"item\\": \\"milk\\"}"}</tool_call>',
        "",
        [MILK],
    ),
    "Hermes, line breaks in a string": (
        '<tool_call>{"name": "add_item", "arguments": {"item": "a\nb"}}</tool_call>',
        "",
        [("add_item", {"item": "a\nb"})],
    ),
    "Qwen's coders": (
        "<tool_call>\n<function=add_item>\n<parameter=item>\neggs\n</parameter>\n<parameter=number>\n6\n</parameter>\n"
        "</function>\n</tool_call>",
        "",
        [EGGS],
    ),
    "Llama, tagged": ('<|python_tag|>{"name": "add_item", "parameters": {"item": "milk"}}', "", [MILK]),
    "Llama, two": (
        '<|python_tag|>{"name": "now", "parameters": {}}; {"name": "add_item", "parameters": {"item": "milk"}}',
        "",
        [NOW, MILK],
    ),
    "Llama, bare": ('{"name": "add_item", "parameters": {"item": "milk"}}', "", [MILK]),
    "Llama, bare, of type function": (
        '{"type": "function", "name": "add_item", "parameters": {"item": "eggs", "number": 6}}',
        "",
        [EGGS],
    ),
    "Mistral": ('[TOOL_CALLS][{"name": "add_item", "arguments": {"item": "milk"}, "id": "abc"}]', "", [MILK]),
    "Mistral, two in a list": (
        '[TOOL_CALLS] [{"name": "now", "arguments": {}}, {"name": "add_item", "arguments": {"item": "milk"}}]',
        "",
        [NOW, MILK],
    ),
    "Mistral, newer": ('[TOOL_CALLS]add_item[ARGS]{"item": "milk"}[TOOL_CALLS]now[ARGS]{}', "", [MILK, NOW]),
    "Mistral, with an identifier": ("[TOOL_CALLS]now[CALL_ID]a1b2c3d4e[ARGS]{}", "", [NOW]),
    "printed as plain text in a fence": (
        '```json\n{"name": "add_item", "arguments": {"item": "milk"}}\n```\nI add milk.',
        "I add milk.",
        [MILK],
    ),
    "printed as a list": ('[{"name": "now", "arguments": {}}]', "", [NOW]),
}

TEXTS = {
    "plain": "There is no tool for that. a < b, [1], {x}",
    "blanks": "  \n hola \n ",
    "a tool that does not exist": '<tool_call>\n{"name": "order_pizza", "arguments": {}}\n</tool_call>',
    "a bare one that does not exist": '{"name": "order_pizza", "parameters": {}}',
    "Mistral's that does not exist": "[TOOL_CALLS]order_pizza[ARGS]{}",
    "JSON that breaks off": '<tool_call>{"name": "add_item", "arguments": {"item": "mi',
    "JSON that is broken": '<tool_call>{"name": "add_item", "arguments": {item: milk}}</tool_call> so',
    "a string without end": '<tool_call>{"name": "now, "arguments": {}}</tool_call> so',
    "arguments that are no object": '<tool_call>{"name": "now", "arguments": [1]}</tool_call>',
    "no arguments at all": '<tool_call>{"name": "now"}</tool_call>',
    "a name that is none": '<tool_call>{"name": 7, "arguments": {}}</tool_call>',
    "words after a tag": "The tag <tool_call> opens a call, and [TOOL_CALLS] does too.",
    "code after a tag": "<|python_tag|>print('hola')",
    "a tag alone": "[TOOL_CALLS]",
    "half a tag": "a <tool_ca",
    "JSON that was asked for": '{"name": "Ana", "age": 7}',
    "JSON with other keys": '{"item": "milk"}',
    "JSON in the middle": 'Like this: {"name": "now", "parameters": {}}',
    "the schema echoed": SCHEMA,
    "the schema echoed as a call": f'{{"name": "add_item", "parameters": {SCHEMA}}}',
    "the schema echoed in tags": f'<tool_call>{{"name": "add_item", "arguments": {SCHEMA}}}</tool_call>',
    "the tool echoed": json.dumps(TOOLS[0]),
    "the tool without arguments echoed": json.dumps(TOOLS[1]["function"]),
    "a tool echoed without its schema": '{"name": "now", "description": "What now does", "parameters": {}}',
    "every tool echoed": json.dumps(TOOLS),
    "a nest without end": "[" * 5000 + '{"name": "now"',
    "deep JSON": '{"name": "now", "arguments": ' + "[" * 3000 + "]" * 3000 + "}",
}


def read(pieces: list[str], most: int = MOST) -> tuple[str, list[tuple[str, Any]], CallReader]:
    """Text, calls, and the reader that found them."""
    numbers = iter(range(10_000))
    reader = CallReader(Offered(TOOLS, lambda: f"call{next(numbers)}"), most)
    found: list[Piece] = [piece for text in pieces for piece in reader.feed(text)]
    found += reader.finish()
    calls = [piece.call for piece in found if isinstance(piece, Called)]
    assert len({call.id for call in calls}) == len(calls)
    return joined(found, Delta), [(call.name, call.arguments) for call in calls], reader


@pytest.mark.parametrize("name", CALLS)
def test_a_call_is_found_wherever_the_stream_is_cut(name: str) -> None:
    written, text, calls = CALLS[name]
    for pieces in cut(written):
        assert read(pieces)[:2] == (text, calls), pieces


@pytest.mark.parametrize("name", TEXTS)
def test_what_is_no_call_stays_text_wherever_the_stream_is_cut(name: str) -> None:
    written = TEXTS[name]
    for pieces in cut(written) if len(written) < 1000 else [[written], list(written)]:
        text, calls, reader = read(pieces)
        assert (text, calls, reader.called) == (written, [], False), pieces


def test_plain_text_is_told_while_it_is_being_written() -> None:
    reader = CallReader(Offered(TOOLS, lambda: "id"), MOST)
    assert reader.feed("The sea") == [Delta("The sea")]
    assert reader.feed(" is blue <b") == [Delta(" is blue <b")]
    assert reader.feed(" <tool_") == []
    assert reader.feed("box>") == [Delta(" <tool_box>")]


def test_the_same_call_fifty_times_is_one_call_and_the_end() -> None:
    for pieces in (50 * [f"{HERMES_MILK}\n"], [50 * HERMES_MILK], list(50 * HERMES_MILK)):
        text, calls, reader = read(pieces)
        assert (text, calls, reader.ended) == ("", [MILK], True)


def test_one_item_fifty_times_in_a_list_is_one_call_with_what_was_written() -> None:
    items = json.dumps(["milk"] * 50)
    written = f'<tool_call>{{"name": "add_item", "arguments": {{"item": {items}}}}}</tool_call>'
    assert read(list(written))[1] == [("add_item", {"item": ["milk"] * 50})]


def test_an_item_repeated_until_the_answer_is_cut_is_text_and_no_call() -> None:
    written = '<tool_call>{"name": "add_item", "arguments": {"item": ["milk"' + ', "milk"' * 50
    assert read(list(written))[:2] == (written, [])


def test_more_different_calls_than_are_allowed_end_the_answer() -> None:
    written = "".join(
        f'<tool_call>{{"name": "add_item", "arguments": {{"number": {number}}}}}</tool_call>' for number in range(50)
    )
    text, calls, reader = read(list(written), most=3)
    assert (text, len(calls), reader.ended) == ("", 3, True)


def test_a_long_call_takes_time_in_proportion() -> None:
    written = '<tool_call>{"name": "add_item", "arguments": {"item": "' + "mucha leche, " * 4000 + '"}}</tool_call>'
    _, calls, _ = read([written[place : place + 5] for place in range(0, len(written), 5)])
    assert calls == [("add_item", {"item": "mucha leche, " * 4000})]


@given(st.text(alphabet='<>{}[]":,;`\\ \nname', max_size=80), st.data())
def test_any_text_is_read_in_one_way_and_nothing_of_it_is_lost(text: str, data: st.DataObject) -> None:
    places = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    pieces = [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]
    assert read(pieces)[:2] == read([text])[:2] == (text, [])


@given(st.lists(st.sampled_from([*(case[0] for case in CALLS.values()), *TEXTS.values()]), max_size=4), st.data())
def test_calls_and_texts_in_any_order_are_read_in_one_way(parts: list[str], data: st.DataObject) -> None:
    text = " ".join(part for part in parts if len(part) < 500)
    places = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    pieces = [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]
    assert read(pieces)[:2] == read([text])[:2]


def test_a_call_in_openai_s_form_has_its_arguments_as_json_in_a_text() -> None:
    assert ToolCall("a", "add_item", {"item": "ñandú"}).openai() == {
        "id": "a",
        "type": "function",
        "function": {"name": "add_item", "arguments": '{"item": "ñandú"}'},
    }
