"""The report of a run as files in its folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from app.commands.errors import OutputUnwritable
from app.report.page import page
from app.report.picture import picture
from app.report.reading import read_story
from app.report.story import Story
from configs.disk import write_whole
from memory.runs import run_folder

if TYPE_CHECKING:
    from app.catalogue import Catalogue
    from configs.home import Home
    from memory.runs import Run

PAGE: Final = "report.md"
PICTURE: Final = "report.svg"


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
            write_whole(folder / PICTURE, drawn.encode())
        write_whole(folder / PAGE, page(story, words, home, picture=PICTURE if drawn else None).encode())
    except OSError as error:
        raise OutputUnwritable(reason=error.strerror or str(error)) from error
    return story, folder / PAGE
