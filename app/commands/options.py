"""Options and habits that several commands share: who, how it is written, and how an entry is named."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from typing import Annotated, Final, TypeVar

import typer

from app.catalogue import Catalogue
from app.commands.errors import ConfirmationMissing, ReferenceUnclear
from app.commands.opening import last_catalogue
from app.commands.output import remark

MANY: Final = 1_000_000  # entries of a list; nobody has more

MemberOption = Annotated[str | None, typer.Option("--member", help="command.options.member")]
JsonOption = Annotated[bool, typer.Option("--json", help="command.options.json")]
YesOption = Annotated[bool, typer.Option("--yes", help="command.options.yes")]
ForGoodOption = Annotated[bool, typer.Option("--for-good", help="command.options.for_good")]
LimitOption = Annotated[int, typer.Option("--limit", min=1, max=MANY, help="command.options.limit")]

Entry = TypeVar("Entry")
# Longer than any position in a list that a person counts in, shorter than what tells identifiers apart.
_LONGEST_POSITION: Final = 5


def group(name: str) -> typer.Typer:
    """An empty group of commands called ``name``."""
    return typer.Typer(name=name, help=f"command.{name}.help", no_args_is_help=True, rich_markup_mode=None)


def find(
    entries: Sequence[Entry], reference: str, key: Callable[[Entry], str], unknown: Callable[[str], Exception]
) -> Entry:
    """The entry that ``reference`` names: its place in the listing (1 is the first), its id, or the id's beginning.

    Raises what ``unknown`` makes of a reference that names none, and ReferenceUnclear for one that names several.
    """
    # Not isdigit: ² is a digit to it, and no number to int.
    if reference.isdecimal() and len(reference) <= _LONGEST_POSITION:
        if 1 <= int(reference) <= len(entries):
            return entries[int(reference) - 1]
        raise unknown(reference)
    matching = [entry for entry in entries if reference and key(entry).startswith(reference)]
    if not matching:
        raise unknown(reference)
    if len(matching) > 1 and all(key(entry) != reference for entry in matching):
        raise ReferenceUnclear(reference=reference, number=len(matching))
    return next((entry for entry in matching if key(entry) == reference), matching[0])


def confirm(question: str, *, yes: bool) -> None:
    """Return if the person agrees. Raises ConfirmationMissing if not, or if there is nobody to ask."""
    if yes:
        return
    words = last_catalogue()
    if not sys.stdin.isatty():
        raise ConfirmationMissing
    remark(f"{question} {words.text('command.agree.choice')}")
    # As it is answered in either language; whoever presses Ctrl-D does not agree.
    if sys.stdin.readline().strip().casefold() not in words.text("command.agree.words").split():
        raise ConfirmationMissing


def moment(seconds: float) -> str:
    """A time of day on this machine, to the minute."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def yes_no(catalogue: Catalogue, value: bool) -> str:
    """A truth value in words."""
    return catalogue.text("command.yes" if value else "command.no")
