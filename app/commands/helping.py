"""Puts the help texts, which the commands name by their keys, into words of the reader's language."""

from __future__ import annotations

from typing import Any

from app.catalogue import Catalogue


def put_into_words(command: Any, catalogue: Catalogue) -> None:
    """Replace every help key of ``command`` and of what is under it by its text."""
    command.help = _words(command.help, catalogue)
    command.short_help = None
    for parameter in command.params:
        if "--help" in parameter.opts:
            parameter.help = catalogue.text("command.options.help")
        elif getattr(parameter, "help", None):
            parameter.help = _words(parameter.help, catalogue)
    for inner in getattr(command, "commands", {}).values():
        put_into_words(inner, catalogue)


def _words(key: str | None, catalogue: Catalogue) -> str | None:
    return catalogue.text(key) if key and catalogue.has(key) else key
