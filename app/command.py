"""The ``enlace`` command: the groups there are, and how every one of them ends.

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 held by the gate, 130 interrupted, 141 when whoever read the output went
away. No traceback ever reaches the screen: an error that nobody foresaw goes to the log in full, and one sentence is
shown.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Annotated, Final

# Looking for plugins reads the metadata of every installed package: a tenth of an answer's time, and there are none.
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")

import typer
from typer.exceptions import Abort, TyperException

from app.commands.errors import NoTerminal, OutputUnwritable
from app.commands.opening import forget_sessions, last_catalogue
from app.commands.output import OutputClosed, begun, complain, error_as_json, forget_output, write_json
from app.errors_text import explain
from app.exit_codes import INTERRUPTED, READER_GONE
from configs.errors import EnlaceError, Fact

# A group's module is imported only when the group is named: answering a question must not wait for the rest.
GROUPS: Final = (
    "ask",
    "engine",
    "models",
    "members",
    "chats",
    "memory",
    "lessons",
    "documents",
    "graph",
    "tools",
    "train",
    "trainer",
    "snapshots",
    "backup",
)
# Where Textual reads the keys and where it paints: the standard input and the standard error.
_KEYS: Final = 0
_SCREEN: Final = 2


def run(arguments: Sequence[str]) -> int:
    """Run one command line; the exit code. Writes to stdout and stderr."""
    forget_sessions()
    forget_output()
    try:
        result = _invoke(arguments)
    except EnlaceError as error:
        _tell(error, arguments)
        if isinstance(error, OutputUnwritable):
            _drop_output()
        return error.exit_code
    except TyperException as error:
        from app.commands.usage import wrong_usage

        _complain(arguments, "wrong_usage", {}, *wrong_usage(error, last_catalogue()))
        return 2
    except OutputClosed:
        _drop_output()
        return READER_GONE
    except (KeyboardInterrupt, Abort):
        result = INTERRUPTED
    except Exception as error:
        from app.unexpected import note_unexpected

        _tell(note_unexpected(error, os.environ), arguments)
        return 1
    if result == INTERRUPTED:
        complain("", last_catalogue().text("command.interrupted"))
    return result


def _tell(error: EnlaceError, arguments: Sequence[str]) -> None:
    explained = explain(error, last_catalogue())
    _complain(arguments, error.code, error.facts, explained.what, explained.next)


def _complain(arguments: Sequence[str], code: str, facts: Mapping[str, Fact], what: str, following: str) -> None:
    """Say it to people, and to a program that asked for JSON and has got nothing yet."""
    complain(what, following)
    asked = list(takewhile(lambda each: each != "--", arguments))
    if "--json" in asked and not begun():
        try:
            write_json({"error": error_as_json(code, facts, what, following)})
        except (OutputClosed, OutputUnwritable):
            # Nobody is left to be told.
            _drop_output()


def command_line(only: str | None = None) -> typer.Typer:
    """The commands as Typer knows them: the group called ``only``, or all of them."""
    commands = typer.Typer(
        name="enlace",
        help="command.help",
        add_completion=False,
        no_args_is_help=False,
        invoke_without_command=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    commands.callback()(_interface)
    for group in GROUPS if only is None else (only,):
        importlib.import_module(f"app.commands.{group}").register(commands)
    return commands


def _invoke(arguments: Sequence[str]) -> int:
    if not arguments:
        # Straight to the screen: no command has to be known for it to be painted.
        return _show_interface()
    named = arguments[0] if arguments[0] in GROUPS else None
    if named is not None and len(arguments) == 1 and named != "ask":
        # A group alone says what it has; Typer would do so before its texts are put into words.
        arguments = [named, "--help"]
    command = typer.main.get_command(command_line(named))
    if {"-h", "--help"} & set(arguments):
        from app.commands.helping import put_into_words

        put_into_words(command, last_catalogue())
    result = command.main(args=list(arguments), prog_name="enlace", standalone_mode=False)
    return result if isinstance(result, int) else 0


def _tell_version(asked: bool) -> None:
    """Nothing else is done for whoever asks for it."""
    if asked:
        from app.commands.output import write
        from engine.release import installed_version

        write(f"enlace {installed_version() or '?'}")
        raise typer.Exit


def _interface(
    context: typer.Context,
    _version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_tell_version, help="command.options.version")
    ] = False,
) -> int:
    return 0 if context.invoked_subcommand is not None else _show_interface()


def _show_interface() -> int:
    if not (os.isatty(_KEYS) and os.isatty(_SCREEN)):
        # Painted into a pipe, it would wait for keys that nobody can press.
        raise NoTerminal
    from app.commands.opening import open_session
    from app.interface.run import run as run_interface

    # Who they are is asked on the screen.
    with open_session(asks=False) as session:
        return run_interface(session)


def _drop_output() -> None:
    """Let nothing be written any more: Python would complain when it flushes a closed pipe at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nowhere, stream.fileno())
