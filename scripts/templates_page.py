"""Writes docs/templates.md: what becomes of a conversation with tools in each chat template that llama.cpp ships."""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from engine.errors import TemplateBroken
from engine.messages import Message, PromptOptions, ToolCall
from engine.template import ChatTemplate
from scripts.llama_source import SourceMissing, llama_models, locked_version

PAGE = Path(__file__).resolve().parent.parent / "docs" / "templates.md"
DAY = datetime(2026, 11, 29, 18, 2)
CONVERSATION = (
    Message("system", "Speak-kindly."),
    Message("user", "Weather-in-Soria?"),
    Message("assistant", "", (ToolCall("a1B2c3D4e", "weather", {"place": "Soria-town"}),)),
    Message("tool", "Snow-tonight", tool_call_id="a1B2c3D4e"),
    Message("assistant", "It-will-snow."),
    Message("user", "Thanks-a-lot"),
)
WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "Weather of a place",
        "parameters": {
            "type": "object",
            "properties": {"place": {"type": "string", "description": "A town"}},
            "required": ["place"],
        },
    },
}
OPTIONS = PromptOptions((WEATHER,))
SAID = ("Speak-kindly.", "Weather-in-Soria?", "Soria-town", "Snow-tonight", "It-will-snow.", "Thanks-a-lot", "weather")
HEADER = """# Chat templates of other models

A GGUF file brings its own chat template: a small program that writes a conversation the way its model was trained to
read it. These are the {count} that come with the source of llama-cpp-python {version}. Each was given a conversation
of a system message, a question, an answer that calls a tool, the tool's result, an answer and another question.

- **Result**: *whole*, when everything that was said is in the prompt; else what was left out, or why the template
  refuses.
- **System**: *own*, or *in question* where the template has no place for it and the text goes before the first
  question.
- **Tools**, **calls**, **results**: *own*, where the template writes them its own way (`{{}}` takes a call's
  arguments as a table, `"…"` as JSON in a text); *told*, where it does not know them and the model gets them in plain
  words.
- **Thinks between**: the tags by which thoughts are told apart from the answer; `opened` where the prompt itself opens
  them.

This page is written by `make pages`; a test compares it with the templates.

| Template | Result | System | Tools | Calls | Results | Thinks between |
|---|---|---|---|---|---|---|
"""


@dataclass(frozen=True)
class Row:
    """What a template makes of the conversation. ``text`` is the prompt, None where it is refused."""

    name: str
    cells: tuple[str, ...]
    text: str | None


def sources() -> Iterator[tuple[str, str]]:
    """Name and source of every template. Raises SourceMissing."""
    for path in sorted((llama_models() / "templates").glob("*.jinja"), key=lambda path: path.name.lower()):
        yield path.stem, path.read_text(encoding="utf-8")


@functools.cache
def opened(source: str) -> ChatTemplate:
    """The template ``source``, of a model whose texts begin with ``<s>``. Raises TemplateBroken."""
    return ChatTemplate(source, bos="<s>", eos="</s>", now=lambda: DAY)


def row(name: str, source: str) -> Row:
    """What ``source`` makes of the conversation."""
    try:
        template = opened(source)
        text = template.render(CONVERSATION, add_generation_prompt=True, options=OPTIONS)
        asked = template.render(CONVERSATION[:2], add_generation_prompt=True)
    except TemplateBroken as error:
        reason = " ".join(str(error.facts["reason"]).split()).replace("|", "\\|")
        return Row(name, (f"refused: {reason}", "", "", "", "", ""), None)
    missing = [said for said in SAID if said not in text]
    shape = template.shape
    tags = next(iter(template.thinking_tags), None)
    thinks = f"`{_shown(tags.opening)}` `{_shown(tags.closing)}`" if tags else ""
    if tags and asked.rstrip().endswith(tags.opening.rstrip()):
        thinks += " opened"
    cells = (
        f"without {', '.join(missing)}" if missing else "whole",
        "in question" if f"{SAID[0]}\n\n{SAID[1]}" in asked else "own",
        "own" if shape.tools else "told",
        ('own `"…"`' if shape.calls.arguments_in_text else "own `{}`") if shape.calls else "told",
        "own" if shape.results else "told",
        thinks,
    )
    return Row(name, cells, text)


def page(rows: Sequence[Row]) -> str:
    """The whole page."""
    lines = [f"| {' | '.join((each.name, *each.cells))} |\n" for each in rows]
    return HEADER.format(count=len(rows), version=locked_version()) + "".join(lines)


def _shown(tag: str) -> str:
    return tag.strip().replace("|", "\\|").replace("\n", " ")


def main() -> int:
    """Write the page; 1 where the templates cannot be had."""
    try:
        rows = [row(name, source) for name, source in sources()]
    except SourceMissing as error:
        print(f"docs/templates.md stays as it is: {error}", file=sys.stderr)
        return 1
    PAGE.write_text(page(rows), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
