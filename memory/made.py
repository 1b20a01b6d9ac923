"""What a stage of a training made, kept in the artifact store and found again by all that it depends on.

A record says which files there were and of what lessons they were made, so that they go with those. It is a file beside
the store, ``store/made/ab/…``, and safe to lose: the stage makes them again.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from configs.disk import write_whole
from configs.home import Home
from memory.artifacts import ArtifactStore
from memory.errors import ArtifactDamaged, ArtifactMissing, DatabaseReadOnly, FileNotWritten


@dataclass(frozen=True)
class Made:
    """``files``: digests by name; ``run``: the id of the run that made them; ``lessons``: ids of what they tell of."""

    stage: str
    run: str
    files: Mapping[str, str]
    lessons: tuple[str, ...]


class MadeRecords:
    """Of one home, or of one member's part of it. A key is 64 lower-case hex digits."""

    def __init__(self, home: Home, artifacts: ArtifactStore) -> None:
        self._home = home
        self._folder = home.store / "made"
        self._artifacts = artifacts

    def find(self, key: str) -> Made | None:
        """What was made of this; None where nothing was, or not all of it is in the store as it was put there."""
        made = _read(self._path(key))
        try:
            for digest in made.files.values() if made else ():
                self._artifacts.verify(digest)
        except (ArtifactMissing, ArtifactDamaged):
            return None
        return made

    def keep(self, key: str, stage: str, run: str, files: Mapping[str, Path | bytes], lessons: Collection[str]) -> Made:
        """Store what was made of this, each a file or its content.

        Raises DiskFull, DatabaseReadOnly, FileNotWritten, OSError.
        """
        stored = {name: self._put(content) for name, content in files.items()}
        made = Made(stage, run, stored, tuple(sorted(lessons)))
        path = self._path(key)
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_whole(path, json.dumps(asdict(made)).encode(), alone=False)
        except OSError as error:
            raise FileNotWritten(path=str(path), reason=error.strerror or str(error)) from error
        return made

    def _put(self, content: Path | bytes) -> str:
        return self._artifacts.put_bytes(content) if isinstance(content, bytes) else self._artifacts.put_file(content)

    def forget(self, lessons: Collection[str], runs: Collection[str], needed: Callable[[], Collection[str]]) -> None:
        """Remove what was made of any of these lessons, or by any of these runs, but what else is ``needed`` (digests).

        Objects first: interrupted, the record still says what is left. Raises FileNotWritten.
        """
        found = [
            (path, made)
            for path, made in self._all()
            # What is not all there any more is of no use to anybody.
            if made.run in runs or not set(lessons).isdisjoint(made.lessons) or not self._all_there(made)
        ]
        kept = frozenset(needed()) if found else frozenset()
        for path, made in found:
            try:
                for digest in made.files.values():
                    if digest not in kept:
                        self._artifacts.remove(digest)
                path.unlink(missing_ok=True)
            except (OSError, DatabaseReadOnly) as error:
                reason = getattr(error, "strerror", None) or str(getattr(error, "facts", {}).get("reason", error))
                raise FileNotWritten(path=str(path), reason=reason) from error

    def _all_there(self, made: Made) -> bool:
        return all(self._home.artifact(digest).is_file() for digest in made.files.values())

    def _all(self) -> Iterator[tuple[Path, Made]]:
        for path in sorted(self._folder.glob("??/*.json")):
            if (made := _read(path)) is not None:
                yield path, made

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / f"{key[2:]}.json"


def _read(path: Path) -> Made | None:
    """A record; None where there is none that can be read."""
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
        told = json.loads(path.read_text(encoding="utf-8"))
        return Made(told["stage"], told["run"], dict(told["files"]), tuple(told["lessons"]))
    return None
