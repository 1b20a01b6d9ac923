"""Reading the fields of a request that say what form its answer has to have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from configs.sections.grammars import GrammarSettings
from engine.conversation_fields import read_forced
from engine.errors import RequestWrong
from engine.fields import check_fields
from engine.grammar_check import check_grammar
from engine.schema import schema_grammar


def read_grammar(given: Mapping[str, Any], limits: GrammarSettings) -> str | None:
    """What the answer has to keep to, as GBNF: given so, as a JSON Schema, or as OpenAI's ``response_format``.

    Where it must be a call of a tool, that; None for any text. Raises RequestWrong naming the field.
    """
    found = {name: given[name] for name in ("grammar", "json_schema") if given.get(name) is not None}
    form = given.get("response_format")
    if form is not None:
        if not isinstance(form, dict):
            raise RequestWrong(field="response_format", reason="an object is needed")
        content = {"json_object": ("schema",), "json_schema": ("json_schema",)}.get(str(form.get("type")), ())
        check_fields(form, ("type", *content), "response_format")
        if form.get("type") != "text":
            found["response_format"] = form
    if tools := read_forced(given):
        found["tool_choice"] = tools
    if len(found) > 1:
        raise RequestWrong(field=sorted(found)[-1], reason=f"only one of {', '.join(sorted(found))} can be given")
    if "grammar" in found:
        if not isinstance(found["grammar"], str):
            raise RequestWrong(field="grammar", reason="a text in GBNF is needed")
        check_grammar(found["grammar"], "grammar", limits.most_beginnings)
        return found["grammar"]
    if "json_schema" in found:
        return schema_grammar(found["json_schema"], "json_schema", limits)
    if "tool_choice" in found:
        return schema_grammar({"anyOf": [_call(tool["function"]) for tool in tools]}, "tool_choice", limits)
    return _format_grammar(form, limits) if "response_format" in found else None


def _call(function: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of one call, in the form that is read from every model (see ``engine.callforms``).

    Only what the tool names can be an argument: anything else could pass for a description of the tool.
    """
    arguments = {"type": "object", **function["parameters"]}
    if arguments["type"] != "object" or arguments.get("additionalProperties"):
        reason = f"arguments of {function['name']} that it does not name cannot be had in a forced call"
        raise RequestWrong(field="tool_choice", reason=reason)
    arguments["additionalProperties"] = False
    call = {"name": {"const": function["name"]}, "arguments": arguments}
    return {"type": "object", "properties": call, "required": [*call], "additionalProperties": False}


def _format_grammar(form: Any, limits: GrammarSettings) -> str:
    kind = form.get("type")
    if kind == "json_object":
        # llama.cpp's server takes a schema here too.
        return schema_grammar(form.get("schema", {"type": "object"}), "response_format.schema", limits)
    if kind != "json_schema":
        raise RequestWrong(field="response_format.type", reason="must be text, json_object or json_schema")
    named = form.get("json_schema")
    if not isinstance(named, dict) or "schema" not in named:
        raise RequestWrong(field="response_format.json_schema", reason="an object with a schema is needed")
    check_fields(named, ("name", "description", "schema", "strict"), "response_format.json_schema")
    return schema_grammar(named["schema"], "response_format.json_schema.schema", limits)
