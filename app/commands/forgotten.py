"""What is said of something that was forgotten for good."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.commands.output import remark, write

if TYPE_CHECKING:
    from app.forgetting import Forgotten
    from app.session import Session


def tell_forgotten(session: Session, done: Forgotten, name: str) -> None:
    """That it is gone, what still knows it, and what is left to do."""
    words = session.catalogue
    write(words.text("command.forgotten.done", name=name))
    for sentence in done.still_known:
        write(sentence)
    if done.held:
        remark(words.text("command.forgotten.held"))
    remark(words.text("command.forgotten.backups"))
