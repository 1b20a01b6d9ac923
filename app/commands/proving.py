"""Asks for a PIN or a passphrase: at the terminal without showing it, or in a file that the environment names.

Never in an argument or in the environment itself: whoever looks at the list of processes sees the one, every process
that Enlace starts inherits the other, and a shell writes down both.
"""

from __future__ import annotations

import getpass
import os
import stat
import sys
import warnings
from typing import TYPE_CHECKING, Final

from app.commands.errors import SecretFileOpen, SecretFileUnreadable
from app.new_secret import TypedTwice
from memory.entrance_errors import PassphraseNeeded, SecretNeeded

if TYPE_CHECKING:
    from app.session import Session
    from memory.entrance import Asked
    from memory.members import Member

# Each names a file, or a descriptor as /dev/fd/3, whose first line is the PIN or the passphrase.
GIVEN: Final = "ENLACE_SECRET_FILE"
NEW: Final = "ENLACE_NEW_SECRET_FILE"
_MOST_BYTES: Final = 4096
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


def ask_secret(session: Session, member: Member, asked: Asked) -> str:
    """What ``member`` gives, not looked at yet. Raises SecretNeeded, SecretFileUnreadable, SecretFileOpen."""
    return _given(session, f"command.members.ask.{asked}", member, GIVEN, asked)


def ask_new(session: Session, member: Member, asked: Asked) -> str:
    """A new one; at a terminal it is asked for twice.

    Raises as ``ask_secret``, SecretsUnlike, and PinFormWrong before it is asked for again.
    """
    twice = TypedTwice(session.household.doors.check_form if asked == "pin" else str)
    first = _given(session, f"command.members.ask.new_{asked}", member, NEW, asked)
    twice.take(first)
    # What a file holds is there to be read.
    again = first if os.environ.get(NEW) else _given(session, "command.members.ask.again", member, NEW, asked)
    return twice.take(again) or first


def _given(session: Session, prompt: str, member: Member, variable: str, asked: Asked) -> str:
    if path := os.environ.get(variable):
        return _first_line(path)
    needed = (PassphraseNeeded if asked == "passphrase" else SecretNeeded)(name=member.name)
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise needed
    try:
        with warnings.catch_warnings():
            # Where the terminal would show it, nothing is asked.
            warnings.simplefilter("error", getpass.GetPassWarning)
            return getpass.getpass(session.catalogue.text(prompt, name=member.name) + " ", sys.stderr)
    except (EOFError, getpass.GetPassWarning):
        raise needed from None


def _first_line(path: str) -> str:
    try:
        with open(path, "rb") as file:
            facts = os.fstat(file.fileno())
            if stat.S_ISREG(facts.st_mode) and facts.st_mode & _OTHERS:
                raise SecretFileOpen(path=path)
            return file.readline(_MOST_BYTES).decode().rstrip("\r\n")
    except OSError as error:
        raise SecretFileUnreadable(path=path, reason=error.strerror or str(error)) from error
    except UnicodeDecodeError as error:
        raise SecretFileUnreadable(path=path, reason="it is no text in UTF-8") from error
