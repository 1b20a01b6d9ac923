"""Reading the fields of a request that are its conversation: messages, tools, and what the template is told."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from engine.errors import PromptTooLong, RequestWrong
from engine.fields import check_fields
from engine.messages import ROLES, Message, PromptOptions, ToolCall, thinking

MOST_TOOLS = 128  # as OpenAI
TOOL_NAME = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
# OpenAI's newer name for whoever speaks above the user.
OTHER_ROLES = {"developer": "system"}
OPTION_FIELDS = ("tools", "tool_choice", "chat_template_kwargs", "enable_thinking", "reasoning_effort")
# The last two are an answer's, which clients give back as they got it.
MESSAGE_FIELDS = ("role", "content", "tool_calls", "tool_call_id", "name", "reasoning_content", "annotations")
EFFORTS = ("none", "minimal", "low", "medium", "high")
# What a template is given in any case.
RESERVED = frozenset({"messages", "tools", "documents", "add_generation_prompt", "bos_token", "eos_token"})


def read_messages(given: Any, context_size: int) -> tuple[Message, ...]:
    """The conversation. What an assistant thought before it answered is left out.

    Raises RequestWrong, and PromptTooLong where there are as many messages as a conversation may have tokens: templates
    write at least one for each, and llama.cpp takes a time to find their control tokens that grows with the square of
    how many there are, two minutes for 100,000.
    """
    if not isinstance(given, list) or not given:
        raise RequestWrong(field="messages", reason="a list with at least one message is needed")
    if len(given) >= context_size:
        raise PromptTooLong(prompt_tokens=len(given), context_size=context_size)
    return tuple(_message(entry, f"messages[{place}]") for place, entry in enumerate(given))


def read_options(given: Mapping[str, Any]) -> PromptOptions:
    """The tools that the model may call, and the variables of its template. Raises RequestWrong naming the field."""
    tools = _tools(given.get("tools"))
    return PromptOptions(() if given.get("tool_choice") == "none" else tools, _variables(given))


def read_forced(given: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """The tools of which the model must call one; none where it may answer as it likes. Raises RequestWrong."""
    choice = given.get("tool_choice")
    if choice in (None, "auto", "none"):
        return ()
    tools = _tools(given.get("tools"))
    function = choice.get("function") if isinstance(choice, dict) and choice.get("type") == "function" else None
    name = function.get("name") if isinstance(function, dict) else None
    chosen = tuple(tool for tool in tools if choice == "required" or tool["function"]["name"] == name)
    if not chosen:
        raise RequestWrong(field="tool_choice", reason="must be auto or none, or where there are tools required or one")
    return chosen


def _message(entry: Any, name: str) -> Message:
    if not isinstance(entry, dict):
        raise RequestWrong(field=name, reason="not an object")
    check_fields(entry, MESSAGE_FIELDS, name)
    role = entry.get("role")
    role = OTHER_ROLES.get(role, role) if isinstance(role, str) else None
    if role not in ROLES:
        raise RequestWrong(field=f"{name}.role", reason=f"must be one of {', '.join(ROLES)}")
    calls = _calls(entry.get("tool_calls"), f"{name}.tool_calls")
    if calls and role != "assistant":
        raise RequestWrong(field=f"{name}.tool_calls", reason="only an assistant calls tools")
    content = _content(entry.get("content"), f"{name}.content", may_be_missing=bool(calls))
    texts = {key: entry[key] for key in ("tool_call_id", "name") if entry.get(key) is not None}
    for key, value in texts.items():
        if not isinstance(value, str):
            raise RequestWrong(field=f"{name}.{key}", reason="must be of type str")
    return Message(role, content, calls, **texts)


def _content(content: Any, name: str, *, may_be_missing: bool) -> str:
    if isinstance(content, list):
        texts = [
            part.get("text") if isinstance(part, dict) and part.get("type") == "text" else None for part in content
        ]
        if not all(isinstance(text, str) for text in texts):
            raise RequestWrong(field=name, reason="only parts of type text are understood")
        for place, part in enumerate(content):
            check_fields(part, ("type", "text"), f"{name}[{place}]")
        return "".join(str(text) for text in texts)
    if content is None and may_be_missing:
        return ""
    if not isinstance(content, str):
        raise RequestWrong(field=name, reason="text is needed")
    return content


def _calls(given: Any, name: str) -> tuple[ToolCall, ...]:
    if given is None:
        return ()
    if not isinstance(given, list):
        raise RequestWrong(field=name, reason="a list is needed")
    calls = []
    for place, entry in enumerate(given):
        function = entry.get("function") if isinstance(entry, dict) else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            raise RequestWrong(field=f"{name}[{place}]", reason="a function with a name is needed")
        check_fields(entry, ("id", "type", "function", "index"), f"{name}[{place}]")
        check_fields(function, ("name", "arguments"), f"{name}[{place}].function")
        arguments = _arguments(function.get("arguments"), f"{name}[{place}].function.arguments")
        calls.append(ToolCall(str(entry.get("id") or ""), function["name"], arguments))
    return tuple(calls)


def _arguments(given: Any, name: str) -> dict[str, Any]:
    try:
        arguments = json.loads(given or "{}") if given is None or isinstance(given, str) else given
    except (ValueError, RecursionError):
        arguments = None
    if not isinstance(arguments, dict):
        raise RequestWrong(field=name, reason="a JSON object in a text is needed")
    return arguments


def _tools(given: Any) -> tuple[Mapping[str, Any], ...]:
    if given is None:
        return ()
    if not isinstance(given, list) or len(given) > MOST_TOOLS:
        raise RequestWrong(field="tools", reason=f"a list of at most {MOST_TOOLS} is needed")
    tools: dict[str, Mapping[str, Any]] = {}
    for place, entry in enumerate(given):
        name, function = _tool(entry, f"tools[{place}]")
        if name in tools:
            raise RequestWrong(field=f"tools[{place}].function.name", reason="two tools have the same name")
        tools[name] = {"type": "function", "function": function}
    return tuple(tools.values())


def _tool(entry: Any, field: str) -> tuple[str, dict[str, Any]]:
    function = (
        entry.get("function") if isinstance(entry, dict) and entry.get("type", "function") == "function" else None
    )
    if not isinstance(function, dict):
        raise RequestWrong(field=field, reason="must be of type function and hold one")
    # What a function holds besides is shown to the model.
    check_fields(entry, ("type", "function"), field)
    name, parameters = function.get("name"), function.get("parameters")
    if not isinstance(name, str) or not TOOL_NAME.fullmatch(name):
        raise RequestWrong(field=f"{field}.function.name", reason="at most 64 letters, digits and _.- are needed")
    if parameters is not None and not isinstance(parameters, dict):
        raise RequestWrong(field=f"{field}.function.parameters", reason="a JSON schema is needed")
    description = function.get("description")
    if description is not None and not isinstance(description, str):
        raise RequestWrong(field=f"{field}.function.description", reason="text is needed")
    # Many templates walk through both without asking whether they are there.
    described = {"description": description or "", "parameters": parameters or {"type": "object", "properties": {}}}
    return name, {**function, "name": name, **described}


def _variables(given: Mapping[str, Any]) -> dict[str, Any]:
    variables = given.get("chat_template_kwargs")
    if variables is not None and not isinstance(variables, dict):
        raise RequestWrong(field="chat_template_kwargs", reason="an object is needed")
    found = dict(variables or {})
    for name in found:
        if name in RESERVED or not name.isidentifier():
            raise RequestWrong(field="chat_template_kwargs", reason=f"no variable may be called {name!r:.60}")
    thinks = given.get("enable_thinking", found.get("enable_thinking"))
    if thinks is not None and not isinstance(thinks, bool):
        raise RequestWrong(field="enable_thinking", reason="must be true or false")
    effort = given.get("reasoning_effort")
    if effort is not None:
        if effort not in EFFORTS:
            raise RequestWrong(field="reasoning_effort", reason=f"must be one of {', '.join(EFFORTS)}")
        found["reasoning_effort"] = effort
        thinks = effort != "none" if thinks is None else thinks
    return found if thinks is None else {**found, **thinking(thinks)}
