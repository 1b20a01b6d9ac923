"""The shapes in which templates take tools, calls and their results, and which of them a template takes.

Templates differ: some want a call's arguments as a table, some as JSON in a text; some refuse identifiers of the wrong
length, a content beside calls, a system message; some leave out silently what they do not know. So a small
conversation is put to the template in one shape after the other, and what comes out is looked at.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from engine.callforms import HERMES, HERMES_END
from engine.errors import TemplateBroken
from engine.messages import Message, ToolCall

RESULT, RESULT_END = "<tool_response>", "</tool_response>"
TOLD_TAGS = (HERMES, HERMES_END, RESULT, RESULT_END)
# The wording that Hermes' models were trained on, for templates that say nothing of tools.
TOLD_TOOLS = """You may call one or more functions to help with the user's question.

Their signatures are in <tools></tools>:
<tools>
{tools}
</tools>

For each call, write a JSON object with the function's name and arguments in <tool_call></tool_call>:
<tool_call>
{{"name": <function-name>, "arguments": <args-json-object>}}
</tool_call>"""

_SHORT_ID = re.compile(r"[a-zA-Z0-9]{9}")
_ID_LENGTH = 9

Dicts = list[dict[str, Any]]
Render = Callable[[Dicts, Sequence[Mapping[str, Any]]], str]


@dataclass(frozen=True)
class CallShape:
    """How a template takes an assistant's calls."""

    arguments_in_text: bool = False
    no_content: bool = False
    short_ids: bool = False


@dataclass(frozen=True)
class Shape:
    """What a template takes: a list of tools, calls (None: it knows none), their results, results without a call."""

    tools: bool = False
    calls: CallShape | None = None
    results: bool = False
    orphans: bool = False


TOLD = Shape()


def find_shape(render: Render) -> Shape:
    """The shape that the template behind ``render`` takes."""
    question = {"role": "user", "content": "probe-question"}
    tools = bool(_shows(render, [question], "probe-tool"))
    result = Message("tool", "probe-result", tool_call_id="probe-id", name="probe-tool")
    said = {"role": "assistant", "content": "probe-answer"}
    orphans = bool(_shows(render, [question, said, as_dict(result, None)], "probe-result"))
    call = Message("assistant", "", (ToolCall("probe-id", "probe-tool", {"probe-key": "probe-value"}),))
    for choice in itertools.product((False, True), repeat=3):
        shape = CallShape(short_ids=choice[0], arguments_in_text=choice[1], no_content=choice[2])
        asked = [question, as_dict(call, shape), as_dict(result, shape)]
        seen = _shows(render, asked, "probe-tool", "probe-value", "probe-result")
        # The signs of a table printed as Python does, of JSON written twice over, and of a content that is none.
        slips = ["'probe-key'", '\\"probe-key', *(["None"] if shape.no_content else [])]
        if seen and not any(slip in seen for slip in slips):
            return Shape(tools, shape, results=True, orphans=orphans)
    return Shape(tools, None, results=orphans, orphans=orphans)


def shaped(messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], shape: Shape) -> Dicts:
    """``messages`` for a template of this ``shape``; what it does not take is told in plain words."""
    if tools and not shape.tools:
        messages = _with_told_tools(messages, tools)
    names = {call.id: call.name for message in messages for call in message.tool_calls}
    found: Dicts = []
    for message in messages:
        if message.role == "tool" and message.name is None and message.tool_call_id in names:
            message = replace(message, name=names[message.tool_call_id])
        taken = shape.results if message.tool_call_id in names else shape.orphans
        if message.role == "tool" and not taken:
            _append_user(found, f"{RESULT}\n{message.content}\n{RESULT_END}")
        elif message.role == "user" and found and found[-1].get("told"):
            _append_user(found, message.content)
        else:
            found.append(as_dict(message, shape.calls))
    return [{key: value for key, value in each.items() if key != "told"} for each in found]


def as_dict(message: Message, shape: CallShape | None) -> dict[str, Any]:
    """One message as templates know it."""
    form: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls and shape is None:
        form["content"] = "\n".join([*([message.content] if message.content else []), *map(_told, message.tool_calls)])
    elif message.tool_calls and shape is not None:
        if shape.no_content and not message.content:
            form["content"] = None
        form["tool_calls"] = [_call(call, shape) for call in message.tool_calls]
    if message.tool_call_id is not None:
        form["tool_call_id"] = _id(message.tool_call_id, shape)
    if message.name is not None:
        form["name"] = message.name
    return form


def without_system(messages: Dicts) -> Dicts:
    """The system's text put before the first question, for templates that refuse a system message."""
    system = "\n\n".join(each["content"] for each in messages if each["role"] == "system")
    rest = [each for each in messages if each["role"] != "system"]
    for place, each in enumerate(rest):
        if each["role"] == "user":
            rest[place] = {**each, "content": f"{system}\n\n{each['content']}"}
            return rest
    return [{"role": "user", "content": system}, *rest]


def _shows(render: Render, messages: Dicts, *texts: str) -> str:
    """What comes out, if it comes out and holds all the ``texts``; else nothing."""
    parameters = {"type": "object", "properties": {"probe-place": {"type": "string", "description": "probe"}}}
    function = {"name": "probe-tool", "description": "probe", "parameters": parameters}
    try:
        seen = render(messages, [{"type": "function", "function": function}])
    except TemplateBroken:
        return ""
    return seen if all(text in seen for text in texts) else ""


def _call(call: ToolCall, shape: CallShape) -> dict[str, Any]:
    arguments = json.dumps(call.arguments, ensure_ascii=False) if shape.arguments_in_text else dict(call.arguments)
    return {"id": _id(call.id, shape), "type": "function", "function": {"name": call.name, "arguments": arguments}}


def _id(given: str, shape: CallShape | None) -> str:
    """A call's identifier; where the template wants it short, always the same short one for the same long one."""
    if shape is None or not shape.short_ids or _SHORT_ID.fullmatch(given):
        return given
    return hashlib.sha256(given.encode(errors="replace")).hexdigest()[:_ID_LENGTH]


def _told(call: ToolCall) -> str:
    content = json.dumps({"name": call.name, "arguments": call.arguments}, ensure_ascii=False)
    return f"{HERMES}\n{content}\n{HERMES_END}"


def _with_told_tools(messages: Sequence[Message], tools: Sequence[Mapping[str, Any]]) -> list[Message]:
    """``messages`` with the tools described at the end of the system's text."""
    told = TOLD_TOOLS.format(tools="\n".join(json.dumps(tool, ensure_ascii=False) for tool in tools))
    if messages and messages[0].role == "system":
        first = replace(messages[0], content=f"{messages[0].content}\n\n{told}")
        return [first, *messages[1:]]
    return [Message("system", told), *messages]


def _append_user(found: Dicts, text: str) -> None:
    """Many templates want user and assistant to take turns, so that neighbours become one."""
    if found and found[-1]["role"] == "user":
        found[-1] = {**found[-1], "content": f"{found[-1]['content']}\n\n{text}", "told": True}
    else:
        found.append({"role": "user", "content": text, "told": True})
