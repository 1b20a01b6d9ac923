"""The registry: a tool is a plain function, and a wrong call is told, not run."""

from __future__ import annotations

import pytest

from tests.tools.conftest import MakeContext
from tools.errors import ToolArgumentWrong, ToolUnknown
from tools.registry import Registry, ToolContext, ToolResult, default_registry


def shout(words: str, mark: str = "!", *, context: ToolContext) -> ToolResult:
    """Say it loudly."""
    return ToolResult(f"{words.upper()}{mark}")


async def test_one_line_makes_a_function_a_tool(context: MakeContext) -> None:
    registry = Registry()
    registry.add(shout)
    (tool,) = registry.list()
    assert (tool.name, tool.description, tool.parameters) == ("shout", "Say it loudly.", {"words": True, "mark": False})
    assert (await registry.call("shout", {"words": "hola"}, context())).text == "HOLA!"


async def test_a_tool_that_does_not_exist_is_told_with_those_that_do(context: MakeContext) -> None:
    with pytest.raises(ToolUnknown) as raised:
        await default_registry().call("weather", {}, context())
    assert raised.value.facts["known"] == "now, calculate, web_search"


@pytest.mark.parametrize("arguments", [{}, {"expression": "  "}, {"expression": "1+1", "more": "x"}])
async def test_missing_and_unknown_arguments_are_refused(context: MakeContext, arguments: dict[str, str]) -> None:
    with pytest.raises(ToolArgumentWrong):
        await default_registry().call("calculate", arguments, context())
