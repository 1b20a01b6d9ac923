"""How a command is written, and what was wrong with how one was, in the words of the catalogue."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING, Any, Final, Literal, get_args, get_origin

if TYPE_CHECKING:
    from typer.exceptions import TyperException

    from app.catalogue import Catalogue

# Typer keeps the classes of its errors to itself; their names and attributes are those of Click, which it carries.
_KINDS: Final = {
    "NoSuchOption": "no_option",
    "BadOptionUsage": "option_alone",
    "MissingParameter": "missing",
    "BadParameter": "bad_value",
}


def wrong_usage(error: TyperException, catalogue: Catalogue) -> tuple[str, str]:
    """(what was wrong, where to look)."""
    context: Any = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "enlace"
    kind = _KINDS.get(type(error).__name__)
    commands = getattr(getattr(context, "command", None), "commands", None) or {}
    if kind is None:
        kind = "no_command" if commands else "too_much"
    parameter: Any = getattr(error, "param", None)
    if kind == "bad_value" and words_taken(parameter) and not parameter.opts[0].startswith("-"):
        # What stands for it in the line of usage are the words that it takes, which follow anyway.
        kind = "bad_word"
    name = _name(error, catalogue)
    said = [catalogue.text(f"command.usage.{kind}", name=name)]
    known = commands if kind == "no_command" else getattr(error, "possibilities", None) or ()
    if near := difflib.get_close_matches(name, known, n=1):
        said.append(catalogue.text("command.usage.meant", name=near[0]))
    elif kind in ("bad_value", "bad_word") and (allowed := bounds(parameter, catalogue)):
        said.append(catalogue.text("command.usage.allowed", allowed=allowed))
    return " ".join(said), catalogue.text("command.usage.look", command=path)


def bounds(parameter: Any, words: Catalogue) -> str:
    """From where to where a number may be, or which words are taken; empty where nothing bounds it."""
    if taken := words_taken(parameter):
        return ", ".join(taken)
    least, most = getattr(parameter, "min", None), getattr(parameter, "max", None)
    if least is None and most is None:
        return ""
    kind = "up_to" if least is None else "from" if most is None else "from_to"
    return words.text(f"command.page.{kind}", least=least, most=most)


def words_taken(parameter: Any) -> tuple[str, ...]:
    """The only words that a parameter takes; none where it takes others."""
    taken = getattr(getattr(parameter, "type_descriptor", None), "annotation", None)
    return tuple(map(str, get_args(taken))) if get_origin(taken) is Literal else ()


def place_name(argument: Any, words: Catalogue) -> str:
    """What stands for an argument, as ``NAME``; where only a few words are taken, those."""
    if taken := words_taken(argument):
        return "|".join(taken)
    key = f"command.page.places.{argument.name}"
    return words.text(key) if words.has(key) else str(argument.name).upper()


def _name(error: TyperException, words: Catalogue) -> str:
    """The option or argument that it is about, as a person writes it; empty where it names none."""
    option: str | None = getattr(error, "option_name", None)
    parameter: Any = getattr(error, "param", None)
    if option is None and parameter is not None:
        named = [name for name in parameter.opts if name.startswith("--")]
        option = named[0] if named else place_name(parameter, words)
    if option is None:
        # The message is in English; the word that was typed stands first in it between quotes.
        quoted = re.search("'([^']*)'|\"([^\"]*)\"", error.message)
        option = (quoted[1] or quoted[2] or "") if quoted else ""
    return option
