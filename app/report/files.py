"""The report of a run as files in its folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from app.commands.errors import OutputUnwritable
from app.report.page import page
from app.report.picture import picture
from app.report.story import Story, read_story
from configs.disk import sync
from memory.runs import run_folder

if TYPE_CHECKING:
    from app.catalogue import Catalogue
    from configs.home import Home
    from memory.runs import Run

PAGE: Final = "report.md"
PICTURE: Final = "report.svg"
_OWNER_ONLY: Final = 0o600


def leave_report(home: Home, run: Run, words: Catalogue) -> tuple[Story, Path]:
    """Write the report of ``run`` into its folder, in the place of an earlier one; its story and the page's file.

    Raises OutputUnwritable.
    """
    folder = run_folder(home, run)
    story = read_story(folder, run)
    drawn = picture(story, words)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if drawn is None:
            (folder / PICTURE).unlink(missing_ok=True)
        else:
            _write(folder / PICTURE, drawn)
        _write(folder / PAGE, page(story, words, home, picture=PICTURE if drawn else None))
    except OSError as error:
        raise OutputUnwritable(reason=error.strerror or str(error)) from error
    return story, folder / PAGE


def _write(path: Path, text: str) -> None:
    """Whole or not at all; for the owner's eyes, as the family's words are in it."""
    aside = path.with_name(path.name + ".part")
    with os.fdopen(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _OWNER_ONLY), "w", encoding="utf-8") as file:
        file.write(text)
    sync(aside)
    aside.replace(path)
