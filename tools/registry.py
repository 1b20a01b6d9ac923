"""The tools there are. A tool is a plain typed function whose docstring says what it is for, and one line here.

Its parameters are text, except the last, ``context``: what it may use of the house. It gives a ``ToolResult`` and
raises ``ToolError``; it may be a coroutine.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from configs.home import Home
from configs.sections.tools import ToolsSettings
from tools.errors import ToolArgumentWrong, ToolUnknown


class Phrases(Protocol):
    """The texts of the member's language; ``tools`` keeps none of its own."""

    language: str

    def text(self, key: str, /, **facts: object) -> str: ...


@dataclass(frozen=True)
class ToolContext:
    """What a tool may use. ``clock`` gives seconds since 1970; ``time_zone``: an IANA name, empty for the machine's."""

    home: Home
    settings: ToolsSettings
    phrases: Phrases
    clock: Callable[[], float]
    time_zone: str = ""


@dataclass(frozen=True)
class Source:
    """Where a numbered statement comes from."""

    number: int
    title: str
    url: str


@dataclass(frozen=True)
class ToolResult:
    """``text`` is a sentence or numbered excerpts; ``must_say`` are the words without which an answer is wrong."""

    text: str
    sources: tuple[Source, ...] = ()
    must_say: tuple[str, ...] = ()


Function = Callable[..., ToolResult | Awaitable[ToolResult]]


@dataclass(frozen=True)
class Tool:
    """A registered function. ``parameters`` maps each name to whether it must be given."""

    name: str
    description: str
    parameters: dict[str, bool]
    function: Function


class Registry:
    """Tools by name, in the order in which they were added."""

    def __init__(self) -> None:
        self._tools: dict[str, Tool] = {}

    def add(self, function: Function) -> None:
        """Register ``function`` under its own name."""
        signature = inspect.signature(function)
        parameters = {
            name: parameter.default is parameter.empty
            for name, parameter in signature.parameters.items()
            if name != "context"
        }
        name = function.__name__
        self._tools[name] = Tool(name, inspect.getdoc(function) or "", parameters, function)

    def list(self) -> list[Tool]:
        return list(self._tools.values())

    def get(self, name: str) -> Tool:
        """Raises ToolUnknown."""
        if name not in self._tools:
            raise ToolUnknown(name=name, known=", ".join(self._tools))
        return self._tools[name]

    async def call(self, name: str, arguments: Mapping[str, str], context: ToolContext) -> ToolResult:
        """Run one tool. Raises ToolUnknown, ToolArgumentWrong and whatever ToolError the tool ends in."""
        tool = self.get(name)
        expected = ", ".join(tool.parameters)
        for argument in arguments:
            if argument not in tool.parameters:
                raise ToolArgumentWrong(name=name, argument=argument, expected=expected)
        for argument, needed in tool.parameters.items():
            if needed and not arguments.get(argument, "").strip():
                raise ToolArgumentWrong(name=name, argument=argument, expected=expected)
        result = tool.function(**arguments, context=context)
        return result if isinstance(result, ToolResult) else await result


def default_registry() -> Registry:
    """The tools that come with Enlace."""
    from tools.calculate import calculate
    from tools.now import now
    from tools.search import web_search

    registry = Registry()
    registry.add(now)
    registry.add(calculate)
    registry.add(web_search)
    return registry
