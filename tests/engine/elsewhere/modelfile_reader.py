"""Reads a Modelfile as Ollama does (its ``parser/parser.go``), letter by letter."""

from __future__ import annotations

COMMANDS = {
    "from",
    "license",
    "template",
    "system",
    "adapter",
    "parameter",
    "message",
    "renderer",
    "parser",
    "requires",
}


class NotAModelfile(Exception):
    """Ollama would refuse it."""


def unquoted(text: str) -> str | None:
    """The argument that ``text`` is, or None where its quotation is still open."""
    for quote in ('"""', '"'):
        if text.startswith(quote):
            closed = len(text) >= 2 * len(quote) and text.endswith(quote)
            return text[len(quote) : -len(quote)] if closed else None
    return text


def read_modelfile(text: str) -> list[tuple[str, str]]:
    """(instruction, argument) in their order; a parameter's instruction is ``parameter NAME``."""
    commands: list[tuple[str, str]] = []
    state, kept, name = "nothing", "", ""
    for letter in text + "\n":
        newline, blank = letter in "\r\n", letter in " \t"
        if state == "nothing":
            if letter == "#":
                state = "comment"
            elif not newline and not blank:
                state, kept = "name", letter
        elif state == "comment":
            state = "nothing" if newline else state
        elif state == "name":
            if letter.isascii() and letter.isalpha():
                kept += letter
            elif blank and kept.lower() in COMMANDS:
                name, kept = kept.lower(), ""
                state = "parameter" if name == "parameter" else "value"
            else:
                raise NotAModelfile(kept)
        elif state == "parameter":
            if letter.isascii() and (letter.isalnum() or letter == "_"):
                kept += letter
            elif blank and kept:
                name, kept, state = f"parameter {kept}", "", "value"
            else:
                raise NotAModelfile(kept)
        elif newline and (argument := unquoted(kept.strip())) is not None:
            commands.append((name, argument))
            state, kept = "nothing", ""
        elif letter.isprintable() or newline or blank:
            kept += letter
    if state not in ("nothing", "comment"):
        raise NotAModelfile(f"{name} is not closed")
    if "from" not in [name for name, _ in commands]:
        raise NotAModelfile("no FROM line")
    return commands
