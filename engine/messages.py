"""A turn of a conversation, the tools offered with it, and what else a template is told, as all rooms pass them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Role = Literal["system", "user", "assistant", "tool"]
ROLES: tuple[Role, ...] = ("system", "user", "assistant", "tool")


@dataclass(frozen=True)
class ToolCall:
    """A tool that an assistant's message asks for. ``arguments``: values as JSON has them."""

    id: str
    name: str
    arguments: Mapping[str, Any]

    def openai(self) -> dict[str, Any]:
        """OpenAI's form of it: the arguments are JSON in a text."""
        arguments = json.dumps(self.arguments, ensure_ascii=False)
        return {"id": self.id, "type": "function", "function": {"name": self.name, "arguments": arguments}}


@dataclass(frozen=True)
class Message:
    """Who speaks and what they say. ``content`` is plain text: nothing in it is ever read as a control token.

    ``tool_calls`` are an assistant's; ``tool_call_id`` and ``name`` say which call a tool's message answers.
    """

    role: Role
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    name: str | None = None

    def openai(self) -> dict[str, Any]:
        """OpenAI's form of it, without what it does not have."""
        message: dict[str, Any] = {"role": self.role, "content": self.content}
        if self.tool_calls:
            message["tool_calls"] = [call.openai() for call in self.tool_calls]
        if self.tool_call_id is not None:
            message["tool_call_id"] = self.tool_call_id
        if self.name is not None:
            message["name"] = self.name
        return message


@dataclass(frozen=True)
class PromptOptions:
    """``tools``: what the model may call, in OpenAI's form. ``variables``: further ones of the model's template.

    Templates of thinking models know the variable ``enable_thinking``.
    """

    tools: tuple[Mapping[str, Any], ...] = ()
    variables: Mapping[str, Any] = field(default_factory=dict)


PLAIN = PromptOptions()


def thinking(on: bool) -> dict[str, Any]:
    """The variables that have a thinking model think, or answer at once, by the names that templates have for them."""
    return {"enable_thinking": on, "thinking": on}


def under(recalled: Sequence[str], question: str) -> str:
    """A question with what is recalled for it above it, a line each; the question alone where nothing is."""
    return "\n".join([*recalled, "", question]) if recalled else question
