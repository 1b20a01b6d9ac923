"""What the folders of past runs hold of lessons, and how they lose it. Files only, no database.

Whatever a run writes about a lesson is an object, in a list or on a line of its own, that names the lesson under "id"
or "lesson". Weights tell what they learned to whoever asks them: they go too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from configs.disk import write_whole
from memory.errors import FileNotWritten
from memory.runlog import RunEvent, append

INPUTS = "inputs.json"  # changed last: while it names a lesson, there may be more
MANIFEST = "manifest.yaml"
FORGOTTEN = "lessons_withdrawn"
_WORDS = {".json", ".jsonl"}
_NO_WORDS = {".yaml", ".log"}
_FOR_PEOPLE = {"report.json", "error.json", "measures.json"}  # of a stage; what else it leaves is for the next one


def forget(folder: Path, lessons: frozenset[str], time: float) -> bool:
    """Take all of these lessons out of a run's ``folder``; whether there was anything of them.

    Objects about them go, and so does the report; of the stages, all that one leaves for the next: training data,
    weights, checkpoints. A run that was not judged keeps nothing but its inputs and its events, so that whoever took it
    up again would begin with what is left. An event says what was taken. ``time``: seconds since 1970.

    Raises FileNotWritten; what was not reached is found by the next call.
    """
    lessons = _named(folder, lessons)
    if not lessons:
        return False
    judged = (folder / MANIFEST).is_file()
    try:
        for path in sorted(_files(folder), key=lambda path: path.name == INPUTS):
            of_the_run = path.parent == folder and path.suffix in _WORDS
            if path.suffix in _NO_WORDS or of_the_run or (judged and path.name in _FOR_PEOPLE):
                _rewrite(path, lessons)
            else:
                path.unlink()
        append(folder, RunEvent(time, FORGOTTEN, facts={"lessons": sorted(lessons)}))
    except OSError as error:
        raise FileNotWritten(path=str(folder), reason=error.strerror or str(error)) from error
    return True


def clear_files(folder: Path) -> None:
    """Remove the files in a folder, but not the folders. Raises FileNotWritten."""
    try:
        for path in folder.glob("*"):
            if path.is_file():
                path.unlink(missing_ok=True)
    except OSError as error:
        raise FileNotWritten(path=str(folder), reason=error.strerror or str(error)) from error


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file())


def _named(folder: Path, lessons: frozenset[str]) -> frozenset[str]:
    """Those of the lessons about which a file of the folder holds an object. Of the others nothing is put into it."""
    found: set[str] = set()
    for path in _files(folder):
        if path.suffix in _WORDS:
            content = path.read_bytes()
            found.update(each for each in lessons if _without(path, content, frozenset([each])) is not None)
    return frozenset(found)


def _rewrite(path: Path, lessons: frozenset[str]) -> None:
    content = _without(path, path.read_bytes(), lessons) if path.suffix in _WORDS else None
    if content is not None:
        write_whole(path, content, mode=path.stat().st_mode & 0o777, alone=True)


def _without(path: Path, content: bytes, lessons: frozenset[str]) -> bytes | None:
    """The file's content without these lessons; None where it holds nothing of them."""
    if not any(lesson.encode() in content for lesson in lessons):
        return None
    if path.suffix == ".jsonl":
        lines = content.split(b"\n")
        kept = [line for line in lines if not _about_line(line, lessons)]
        return b"\n".join(kept) if len(kept) < len(lines) else None
    try:
        value = json.loads(content)
    except ValueError:
        # Half of a file, which nobody reads: it shall not hold the words either.
        return b""
    left = _left(value, lessons)
    return None if left == value else json.dumps(left, ensure_ascii=False).encode()


def _about_line(line: bytes, lessons: frozenset[str]) -> bool:
    try:
        value = json.loads(line)
    except ValueError:
        return any(lesson.encode() in line for lesson in lessons)
    return isinstance(value, dict) and (_about(value, lessons) or _about(value.get("facts"), lessons))


def _left(value: Any, lessons: frozenset[str]) -> Any:
    if isinstance(value, list):
        return [_left(each, lessons) for each in value if not _about(each, lessons)]
    if isinstance(value, dict):
        return {key: _left(each, lessons) for key, each in value.items()}
    return value


def _about(value: Any, lessons: frozenset[str]) -> bool:
    return isinstance(value, dict) and (value.get("id") in lessons or value.get("lesson") in lessons)
