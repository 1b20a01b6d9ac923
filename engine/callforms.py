"""The forms in which models write tool calls, each read from a text that begins with one.

    <tool_call>{"name": …, "arguments": {…}}</tool_call>                                    Hermes, Qwen 2.5 and 3
    <tool_call><function=NAME><parameter=KEY>VALUE</parameter></function></tool_call>      Qwen 3 Coder and 3.5
    <|python_tag|>{"name": …, "parameters": {…}}                                            Llama 3
    [TOOL_CALLS][{"name": …, "arguments": {…}}]     [TOOL_CALLS]NAME[ARGS]{…}               Mistral
    {"name": …, "parameters": {…}}     Llama 3, and small models of every family that print a call as plain text

A call of a tool that was not offered, or one that is not well formed, is the text that it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.messages import ToolCall

HERMES, HERMES_END = "<tool_call>", "</tool_call>"
FUNCTION = "<function="
PYTHON = "<|python_tag|>"
MISTRAL = "[TOOL_CALLS]"
FENCES = ("```json", "```")
# Control tokens in some vocabularies, where they would write nothing.
CALL_TAGS = (HERMES, HERMES_END, PYTHON, MISTRAL, "[CALL_ID]", "[ARGS]")

_STRUCTURE = re.compile(r'"(?:[^"\\]|\\.)*"|["{}\[\]]', re.DOTALL)
_HERMES_STOPS = re.compile(f"{HERMES}|{HERMES_END}")
_NAMED = re.compile(r"\s*([\w.-]+)\s*(?:\[CALL_ID\]\s*([\w.-]+)\s*)?(?:\[ARGS\])?\s*(?=\{)")
_FUNCTION = re.compile(r"\s*<function=([^>\s]+)\s*>(.*?)(?:</function>)?\s*", re.DOTALL)
_PARAMETER = re.compile(r"\s*<parameter=([^>\s]+)\s*>\n?(.*?)\n?</parameter>\s*", re.DOTALL)
_FIRST_KEYS = ('"name"', '"type"', '"function"', '"arguments"', '"parameters"', '"id"')


@dataclass(frozen=True)
class Block:
    """The first ``length`` characters of a text, and what they are: calls, and text where they are none."""

    length: int
    parts: tuple[ToolCall | str, ...]


class Offered:
    """The tools that a request offered, in OpenAI's form. ``new_id`` names a call."""

    def __init__(self, tools: Sequence[Mapping[str, Any]], new_id: Callable[[], str]) -> None:
        functions = [tool["function"] for tool in tools]
        self._schemas: dict[str, Mapping[str, Any]] = {each["name"]: each.get("parameters") or {} for each in functions}
        self._new_id = new_id

    def call(self, value: Any) -> ToolCall | None:
        """``value`` as a call of one of the tools; None where it is none: the tool's own description, for one."""
        if not isinstance(value, dict):
            return None
        if isinstance(value.get("function"), dict):
            value = value["function"]
        name = value.get("name") or value.get("function")
        given = next((value[key] for key in ("arguments", "parameters", "args") if key in value), None)
        if not isinstance(name, str) or name not in self._schemas or "description" in value or given is None:
            return None
        return self.named(name, given)

    def named(self, name: str, arguments: Any) -> ToolCall | None:
        """A call of the tool ``name``; arguments may be JSON in a text."""
        if isinstance(arguments, str):
            arguments = read_json(arguments)
        if name not in self._schemas or not isinstance(arguments, dict) or self._is_schema(name, arguments):
            return None
        return ToolCall(self._new_id(), name, arguments)

    def tagged(self, text: str) -> ToolCall | None:
        """What stands between ``<tool_call>`` and its end."""
        found = _FUNCTION.fullmatch(text)
        if not found:
            return self.call(read_json(text))
        name, body = found.groups()
        if name not in self._schemas or _PARAMETER.sub("", body).strip():
            return None
        return self.named(name, {key: self._typed(name, key, value) for key, value in _PARAMETER.findall(body)})

    def _typed(self, name: str, key: str, value: str) -> Any:
        """A parameter written as plain text, as the tool's schema wants it."""
        schema = self._properties(name).get(key)
        if isinstance(schema, dict) and schema.get("type") == "string":
            return value
        read = read_json(value)
        return value if read is None and value.strip() != "null" else read

    def _is_schema(self, name: str, arguments: Mapping[str, Any]) -> bool:
        """Whether a model echoed the schema of a tool's arguments in place of arguments."""
        if arguments and arguments == self._schemas[name]:
            return True
        return isinstance(arguments.get("properties"), dict) and "properties" not in self._properties(name)

    def _properties(self, name: str) -> Mapping[str, Any]:
        properties = self._schemas[name].get("properties")
        return properties if isinstance(properties, dict) else {}


def read_block(text: str, offered: Offered, *, last: bool) -> Block | None:
    """The block that ``text`` begins with; None while it may go on, which it cannot where this is the ``last`` text."""
    if text.startswith(HERMES):
        block = _hermes(text, offered, last=last)
    elif text.startswith(PYTHON):
        block = _json(text, len(PYTHON), offered)
    elif text.startswith(MISTRAL):
        block = _mistral(text, offered)
    else:
        block = _bare(text, offered, last=last)
    return Block(len(text), (text,)) if block is None and last else block


def begins_bare(text: str) -> bool | None:
    """Whether ``text`` begins with JSON that may be a call; None where more of it is needed to tell."""
    rest = text
    if rest.startswith("`"):
        if any(fence.startswith(rest) for fence in FENCES):
            return None
        fence = next((fence for fence in FENCES if rest.startswith(fence)), "")
        rest = rest[len(fence) :].lstrip()
    for bracket in "[", "{":
        if not rest:
            return None
        if rest[0] == bracket:
            rest = rest[1:].lstrip()
        elif bracket == "{":
            return False
    if any(key.startswith(rest) for key in _FIRST_KEYS):
        return None
    return rest.startswith(_FIRST_KEYS)


def read_json(text: str) -> Any:
    """``text`` as JSON, line breaks inside its strings allowed; None where it is none."""
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


def _hermes(text: str, offered: Offered, *, last: bool) -> Block | None:
    begin = len(HERMES)
    rest = text[begin:].lstrip()
    if rest and rest[0] != "{" and not rest.startswith(FUNCTION) and not FUNCTION.startswith(rest):
        return Block(begin, (text[:begin],))
    for stop in _HERMES_STOPS.finditer(text, begin):
        inside = text[begin : stop.start()]
        length = stop.end() if stop.group() == HERMES_END else stop.start()
        call = offered.tagged(inside)
        if call:
            return Block(length, (call,))
        if not _in_string(inside):
            return Block(length, (text[:length],))
    call = offered.tagged(text[begin:]) if last else None
    return Block(len(text), (call,)) if call else None


def _mistral(text: str, offered: Offered) -> Block | None:
    begin = len(MISTRAL)
    if not text[begin:].strip():
        return None
    if text[begin:].lstrip()[0] == "[":
        return _json(text, begin, offered)
    head = _NAMED.match(text, begin)
    if not head:
        # Not before its arguments begin is it clear what this is.
        return Block(begin, (text[:begin],)) if "{" in text else None
    end = _json_end(text, head.end())
    if end is None:
        return None
    call = offered.named(head[1], text[head.end() : end])
    return Block(end, (call or text[:end],))


def _bare(text: str, offered: Offered, *, last: bool) -> Block | None:
    fence = next((fence for fence in FENCES if text.startswith(fence)), "")
    block = _json(text, len(fence), offered)
    if block is None or not fence or isinstance(block.parts[0], str):
        return block
    rest = text[block.length :].lstrip()
    if not rest.startswith("```") and not last and "```".startswith(rest):
        return None
    closing = len(text) - len(rest) + 3 if rest.startswith("```") else block.length
    return Block(closing, block.parts)


def _json(text: str, begin: int, offered: Offered) -> Block | None:
    """A tag of ``begin`` characters, then one call or a list of calls."""
    rest = text[begin:].lstrip()
    if rest and rest[0] not in "[{":
        return Block(begin, (text[:begin],))
    end = _json_end(text, begin)
    if end is None:
        return None
    value = read_json(text[begin:end])
    entries = value if isinstance(value, list) else [value]
    calls = [offered.call(entry) for entry in entries]
    if not any(calls):
        return Block(end, (text[:end],))
    written = (json.dumps(entry, ensure_ascii=False) for entry in entries)
    return Block(end, tuple(call or entry for call, entry in zip(calls, written, strict=True)))


def _json_end(text: str, begin: int) -> int | None:
    """Where the object or list that begins at ``begin`` ends; None where it does not."""
    depth = 0
    for mark in _STRUCTURE.finditer(text, begin):
        sign = mark.group()
        if sign == '"':
            return None
        depth += (sign in "[{") - (sign in "]}")
        if depth <= 0 and sign in "]}":
            return mark.end()
    return None


def _in_string(text: str) -> bool:
    """Whether a text that is the beginning of JSON breaks off inside a string."""
    return any(mark.group() == '"' for mark in _STRUCTURE.finditer(text))
