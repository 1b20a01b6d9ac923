"""What ``--help`` says, in the reader's language: Typer knows its own headings in English alone."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from app.catalogue import Catalogue
from app.commands.usage import bounds, place_name, words_taken


def put_into_words(command: Any, catalogue: Catalogue) -> None:
    """Replace every help key of ``command`` and of what is under it by its text, and have its page written in words."""
    command.help = _words(command.help, catalogue)
    command.get_help = partial(_page, command, catalogue)
    for parameter in command.params:
        if getattr(parameter, "help", None):
            parameter.help = _words(parameter.help, catalogue)
    for inner in getattr(command, "commands", {}).values():
        put_into_words(inner, catalogue)


def _words(key: str | None, catalogue: Catalogue) -> str | None:
    return catalogue.text(key) if key and catalogue.has(key) else key


def _page(command: Any, words: Catalogue, context: Any) -> str:
    """How the command is written, what it does, and its arguments, options and commands."""
    shown = [parameter for parameter in command.get_params(context) if not parameter.hidden]
    arguments = [parameter for parameter in shown if parameter.param_type_name == "argument"]
    options = [parameter for parameter in shown if parameter.param_type_name == "option"]
    commands = [(name, inner.help or "") for name, inner in getattr(command, "commands", {}).items()]
    pieces = [words.text("command.page.options_place"), *(_place(argument, words) for argument in arguments)]
    pieces += [words.text("command.page.commands_place")] if commands else []
    page = context.make_formatter()
    page.write_usage(context.command_path, " ".join(pieces), prefix=f"{words.text('command.page.usage')}: ")
    page.write_paragraph()
    with page.indentation():
        page.write_text(command.help or "")
    _section(
        page, words.text("command.page.arguments"), ((_place(each, words), _told(each, words)) for each in arguments)
    )
    _section(page, words.text("command.page.options"), ((_option(each, words), _told(each, words)) for each in options))
    _section(page, words.text("command.page.commands"), commands)
    text: str = page.getvalue()
    return text.rstrip("\n")


def _section(page: Any, heading: str, lines: Iterable[tuple[str, str]]) -> None:
    if lines := list(lines):
        with page.section(heading):
            page.write_dl(lines)


def _place(argument: Any, words: Catalogue) -> str:
    """How an argument stands in a line of usage."""
    name = place_name(argument, words) + ("…" if argument.nargs != 1 else "")
    return name if argument.required else f"[{name}]"


def _option(option: Any, words: Catalogue) -> str:
    """The option's names, and what is written after them."""
    names = ", ".join(sorted((*option.opts, *option.secondary_opts), key=len))
    if option.is_flag:
        return names
    number = option.type_descriptor.annotation in (int, float)
    return f"{names} {words.text('command.page.number' if number else 'command.page.text')}"


def _told(parameter: Any, words: Catalogue) -> str:
    """What a parameter is for, what it may be, and what it is where it is left out."""
    if "--help" in parameter.opts:
        return words.text("command.options.help")
    # Where an argument takes a few words, they stand in its place already.
    argument = parameter.param_type_name == "argument"
    notes = [] if argument and words_taken(parameter) else [bounds(parameter, words)]
    if parameter.param_type_name == "option":
        if parameter.required:
            notes.append(words.text("command.page.required"))
        elif isinstance(parameter.default, int | float | str) and not isinstance(parameter.default, bool):
            notes += [words.text("command.page.default", value=parameter.default)] if parameter.default != "" else []
    noted = "; ".join(note for note in notes if note)
    return f"{parameter.help or ''} ({noted})" if noted else parameter.help or ""
