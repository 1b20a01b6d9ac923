"""Writes docs/commands.md from the commands themselves: what each does, its arguments and options, in English."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from app.catalogue import Catalogue
from app.command import command_line
from app.commands.helping import put_into_words
from app.commands.usage import place_name

Command = TyperCommand | TyperGroup
Parameter = TyperArgument | TyperOption

PAGE = Path(__file__).resolve().parent.parent / "docs" / "commands.md"
HEADER = """# Commands

`enlace` alone opens the interface. Every command explains itself with `--help`, in your language or the household's.
Listings take `--json`, for other programs to read; what goes wrong is then one object too, with `code`, `facts`, `what`
and `next` under `error`, unless something was written already. Exit codes: 0 done, 1 failed, 2 wrong usage, 3 held by
the gate, 130 interrupted, 141 when whoever read the output went away.

This page is written by `make pages`; a test compares it with the commands.
"""


def root(language: str = "en") -> Command:
    """The whole command, saying its help in ``language``."""
    command = typer.main.get_command(command_line())
    put_into_words(command, Catalogue(language))
    if not isinstance(command, TyperCommand | TyperGroup):
        raise TypeError(type(command))
    return command


def walk(command: Command, name: str = "enlace") -> Iterator[tuple[str, Command]]:
    """``command`` and every command below it, with their full names, in the order of the help."""
    yield name, command
    if isinstance(command, TyperGroup):
        context = typer.Context(command, info_name=name)
        for inner in command.list_commands(context):
            below = command.get_command(context, inner)
            if isinstance(below, TyperCommand | TyperGroup) and not below.hidden:
                yield from walk(below, f"{name} {inner}")


def page(language: str = "en") -> str:
    """The whole page, what the commands say of themselves in ``language``."""
    return HEADER + "".join(section(name, command) for name, command in walk(root(language)))


def section(name: str, command: Command) -> str:
    """What the page says of one command."""
    shown = [parameter for parameter in parameters(command) if not parameter.hidden and parameter.name != "help"]
    usage = " ".join([name, *(metavar(parameter) for parameter in shown if isinstance(parameter, TyperArgument))])
    table = "\n| | |\n|---|---|\n" + "".join(row(parameter) for parameter in shown) if shown else ""
    depth = "##" if name.count(" ") <= 1 else "###"
    return f"\n{depth} `{usage}`\n{' '.join((command.help or '').split())}\n{table}"


def parameters(command: Command) -> list[Parameter]:
    """The arguments and options of a command."""
    return [parameter for parameter in command.params if isinstance(parameter, TyperArgument | TyperOption)]


def metavar(argument: TyperArgument) -> str:
    """How an argument is written in a line of usage."""
    name = place_name(argument, Catalogue("en")) + ("…" if argument.nargs != 1 else "")
    return name if argument.required else f"[{name}]"


def row(parameter: Parameter) -> str:
    """One line of a command's table."""
    options = [*parameter.opts, *parameter.secondary_opts]
    name = metavar(parameter) if isinstance(parameter, TyperArgument) else ", ".join(options)
    text = " ".join((parameter.help or "").split())
    return "| `{}` | {} |\n".format(*(told.replace("|", "\\|") for told in (name, text)))


def main() -> int:
    """Write the page; the exit code."""
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
