"""Documents that the family wants read, and the process that reads them, which is the trainer's."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.paths import whole_path
from app.standing import adults_alone
from app.training import ROOT, answer_of
from memory.documents.errors import DocumentUnknown, FormatUnknown, PathInHome, PathUnknown
from memory.documents.formats import ENDINGS, format_of

if TYPE_CHECKING:
    from app.session import Session
    from memory.documents.shelf import Shelf
    from memory.documents.sources import Source
    from memory.documents.states import DocumentState


def add_documents(session: Session, path: Path, *, shared: bool) -> Source:
    """Have a file, or all in a folder, read from now on, for the member alone or for the household.

    Raises PathUnknown, PathInHome, FormatUnknown, AdultsAlone.
    """
    place = whole_path(path)
    # Unlike those of Path, neither raises for a name that is too long, or in a folder that is shut.
    if not os.path.exists(place):
        raise PathUnknown(path=str(path))
    root = session.home.root.resolve()
    if place.resolve().is_relative_to(root) or root.is_relative_to(place.resolve()):
        raise PathInHome(path=str(path))
    if os.path.isfile(place) and format_of(place) is None:
        raise FormatUnknown(path=str(path), formats=" ".join(sorted(ENDINGS)))
    if shared:
        adults_alone(session)
    shelf = session.household.documents if shared else session.memory.papers.shelf
    return shelf.sources.add(place, session.member.id)


def read_documents(session: Session, *, model: bool = False) -> dict[str, Any]:
    """Read what waits of the household's and the member's own, by the rules, and with ``model`` by the model too.

    How many were read, were asked about, could not be read, and wait; ``problem``: the code of what kept the model from
    it. Raises what the reading process reports, and TrainerNotStarted.
    """
    key = session.household.doors.key(session.member)
    what = ["--now", "--member", session.member.id, *([] if model else ["--rules"]), *(["--key"] if key else [])]
    answer: dict[str, Any] = json.loads(answer_of(session.home, "trainer.reading", *what, given=f"{key}\n")[0])
    return answer


def read_while_in(session: Session) -> subprocess.Popen[bytes] | None:
    """Read, at idle priority, what the night cannot: the documents of a member whose file is encrypted, who is in.

    The process ends by itself, or with this one; None where there is nothing to read so. The key goes through a pipe.
    """
    key = session.household.doors.key(session.member)
    if not key or not session.memory.papers.shelf.sources.list():
        return None
    what = ["--member", session.member.id, "--key", "--home", str(session.home.root), "--parent", str(os.getpid())]
    process = subprocess.Popen(
        [sys.executable, "-m", "trainer.reading", *what],
        cwd=ROOT,
        env=session.home.environment(os.environ),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    if process.stdin is not None:
        with contextlib.suppress(BrokenPipeError), process.stdin as pipe:
            pipe.write(f"{key}\n".encode())
    return process


def all_states(session: Session) -> list[DocumentState]:
    """How it stands with every document that the member may see, the household's first."""
    return [each for shelf in _shelves(session) for each in shelf.states.list()]


def all_sources(session: Session) -> list[Source]:
    """Every file and folder that is watched and that the member may know of."""
    return [each for shelf in _shelves(session) for each in shelf.sources.list()]


def forget_document(session: Session, state: DocumentState) -> None:
    """Forget a document and all that was derived from it. Raises DocumentUnknown, AdultsAlone."""
    if state.visibility == "shared":
        _own_or_adult(session, state.added_by)
    if not any(shelf.remove(state.id) for shelf in _shelves(session) if shelf.visibility == state.visibility):
        raise DocumentUnknown(id=state.id)


def forget_source(session: Session, source: Source) -> int:
    """Watch a file or folder no more, and forget the documents that were there alone; how many. Raises AdultsAlone."""
    if source.visibility == "shared":
        _own_or_adult(session, source.added_by)
    return sum(shelf.unwatch(Path(source.path)) for shelf in _shelves(session) if shelf.visibility == source.visibility)


def _own_or_adult(session: Session, added_by: str) -> None:
    if added_by != session.member.id:
        adults_alone(session)


def _shelves(session: Session) -> list[Shelf]:
    return [session.household.documents, session.memory.papers.shelf]
