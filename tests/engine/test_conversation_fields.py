"""Whatever a request holds, its conversation is read or the field that is wrong is named."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.conversation_fields import read_messages, read_options
from engine.errors import PromptTooLong, RequestWrong
from engine.messages import ROLES, Message, ToolCall

WORDS = (
    "role content tool_calls tool_call_id name function arguments parameters description type text id "
    "enable_thinking messages properties"
)
KEYS = st.sampled_from(WORDS.split())
VALUES = st.sampled_from([*ROLES, "developer", "weather", "function", "text", "{}", "[", "none", "auto", "high"])
SHORT = st.text(max_size=6)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | VALUES | SHORT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=12,
)
OPTION_KEYS = ["tools", "tool_choice", "enable_thinking", "chat_template_kwargs", "reasoning_effort"]
FIELDS = st.dictionaries(st.sampled_from(OPTION_KEYS), JSON)


def refused(reading: Callable[[], object]) -> str | None:
    """The field that is wrong, None where all is well."""
    try:
        reading()
    except RequestWrong as refusal:
        return str(refusal.facts["field"])
    return None


@given(JSON)
def test_any_messages_are_read_or_refused_by_name(given_messages: object) -> None:
    field = refused(lambda: read_messages(given_messages, 64))
    assert field is None or field.startswith("messages")


@given(FIELDS)
def test_any_options_are_read_or_refused_by_name(fields: dict[str, object]) -> None:
    field = refused(lambda: read_options(fields))
    assert field is None or field.partition("[")[0] in OPTION_KEYS


@given(st.lists(st.tuples(SHORT, SHORT, st.dictionaries(SHORT, SHORT | st.integers(), max_size=2)), max_size=2))
def test_what_the_client_writes_is_what_the_engine_reads(calls: list[tuple[str, str, dict[str, object]]]) -> None:
    made = tuple(ToolCall(*call) for call in calls)
    messages = (Message("assistant", "Hm.", made), Message("tool", "Snow.", tool_call_id="a", name="weather"))
    written = json.loads(json.dumps([message.openai() for message in messages]))
    assert read_messages(written, 64) == messages


def test_the_developer_is_the_system() -> None:
    assert read_messages([{"role": "developer", "content": "Be kind."}], 64) == (Message("system", "Be kind."),)


def test_what_was_thought_is_not_read() -> None:
    said = {"role": "assistant", "content": "Yes.", "reasoning_content": "Is it?"}
    assert read_messages([said], 64) == (Message("assistant", "Yes."),)


def test_an_effort_of_none_is_no_thinking() -> None:
    assert read_options({"reasoning_effort": "none"}).variables["enable_thinking"] is False
    assert read_options({"reasoning_effort": "high"}).variables["enable_thinking"] is True
    assert read_options({"chat_template_kwargs": {"enable_thinking": False}}).variables["thinking"] is False
    assert read_options({}).variables == {}


def test_too_many_messages_are_counted_before_any_is_looked_at() -> None:
    with pytest.raises(PromptTooLong):
        read_messages([7] * 64, 64)
    with pytest.raises(RequestWrong):
        read_messages([7] * 63, 64)
