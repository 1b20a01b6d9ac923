"""What was wrong with how a command was written, in the words of the catalogue."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

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
    if kind is None:
        kind = "no_command" if getattr(getattr(context, "command", None), "commands", None) else "too_much"
    what = catalogue.text(f"command.usage.{kind}", name=_name(error))
    return what, catalogue.text("command.usage.look", command=path)


def _name(error: TyperException) -> str:
    """The option or argument that it is about, as a person writes it; empty where it names none."""
    option: str | None = getattr(error, "option_name", None)
    parameter: Any = getattr(error, "param", None)
    if option is None and parameter is not None:
        named = [name for name in parameter.opts if name.startswith("--")]
        option = named[0] if named else parameter.name.upper()
    if option is None:
        # The message is in English; the word that was typed stands in it between quotes.
        quoted = re.search("'(.*)'", error.message)
        option = quoted[1] if quoted else ""
    return option
