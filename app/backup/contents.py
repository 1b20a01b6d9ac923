"""What of a home is kept in a backup: everything but what makes itself again, or is being written right now."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from configs.home import Home
from engine.fingerprint import REMEMBERED
from engine.forms.records import list_adapted
from memory.copies import BESIDE, ENDING

# What belongs to the processes of this home and moment: the engine's socket, its locks and its token.
_OF_THE_ENGINE: Final = re.compile(r"engine\.\w+")
# What is being written right now, and the locks beside it.
_UNFINISHED: Final = re.compile(r"\..*|.*\.(part|part\.json|import|lock)|lock")
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
# The marker of a training that a process carries, as ``trainer.night.markers`` names it: its number comes first.
_CLAIMED: Final = re.compile(r"(\d+)\.claimed\..+")
_FORMS: Final = Home(Path()).forms.parts
# Copied in a way of their own.
_DATABASES: Final = (ENDING, *(ENDING + beside for beside in BESIDE))


@dataclass(frozen=True)
class Entry:
    """A file of the home. ``name``: its path below the home, with slashes; ``size``: bytes, as it was listed."""

    name: str
    path: Path
    size: int

    @property
    def digest(self) -> str | None:
        """The SHA-256 that its name promises, of an artifact in the family's store or in a member's."""
        parts = PurePosixPath(self.name).parts
        if parts[0] == "members":
            parts = parts[2:]
        found = "".join(parts[2:]) if len(parts) == 4 and parts[:2] == ("store", "sha256") else ""
        return found if _DIGEST.fullmatch(found) else None

    @property
    def model(self) -> str | None:
        """The name of the model that it is, where it is one as it was pulled or imported."""
        parts = PurePosixPath(self.name).parts
        own = len(parts) == 2 and parts[0] == "models" and parts[1].endswith(".gguf")
        return parts[1].removesuffix(".gguf") if own else None

    @property
    def of_form(self) -> str | None:
        """The SHA-256 of the model that it is a form of, or a record about one."""
        parts = PurePosixPath(self.name).parts
        return parts[2] if len(parts) == 4 and parts[:2] == _FORMS else None

    @property
    def member(self) -> str | None:
        """The id of the member in whose part of the home it lies."""
        parts = PurePosixPath(self.name).parts
        return parts[1] if parts[0] == "members" and len(parts) > 2 else None

    @property
    def of_models(self) -> bool:
        """Whether it belongs to the models: one as pulled, a form of one, or what was measured of it."""
        return self.name.startswith("models/")


def contents(home: Home) -> list[Entry]:
    """Every file to keep but the databases, by name. Links are followed. Raises OSError."""
    # By name, since a claim that is given back meanwhile is found under both of its names.
    found = {entry.name: entry for entry in _walk(home, home.root, "", frozenset())}
    return [found[name] for name in sorted(found)]


def within(home: Home, place: Path) -> bool:
    """Whether a path lies in the home, or in a folder that a link in it leads to."""
    place, waiting, seen = place.resolve(), [home.root.resolve()], set()
    while waiting:
        root = waiting.pop()
        if place.is_relative_to(root):
            return True
        if root not in seen:
            seen.add(root)
            for folder, below, _ in os.walk(root):
                waiting += [path.resolve() for name in below if (path := Path(folder, name)).is_symlink()]
    return False


def all_merged_weights(home: Home) -> frozenset[str]:
    """Digests of artifacts that are a model with what was learned in it, which the next fitting makes again."""
    found = home.forms.glob("*")
    records = (record for folder in found for _, record in list_adapted(home, folder.name))
    return frozenset(record.merged for record in records if record.merged)


def _walk(home: Home, folder: Path, prefix: str, above: frozenset[tuple[int, int]]) -> Iterator[Entry]:
    try:
        own = folder.stat()
        with os.scandir(folder) as listed:
            entries = list(listed)
    except FileNotFoundError:
        # It was removed a moment ago.
        return
    if (own.st_dev, own.st_ino) in above:
        # A link to a folder around it.
        return
    above |= {(own.st_dev, own.st_ino)}
    for found in entries:
        name, path = prefix + found.name, folder / found.name
        if _left_out(home, name):
            continue
        try:
            facts = path.stat()
        except FileNotFoundError:
            # It was removed a moment ago, or is a link to nothing.
            continue
        if stat.S_ISDIR(facts.st_mode):
            yield from _walk(home, path, f"{name}/", above)
        elif stat.S_ISREG(facts.st_mode):
            yield Entry(_of_nobody(home, name), path, facts.st_size)


def _of_nobody(home: Home, name: str) -> str:
    """What a file is called in a copy of the home, in which no process carries a training: it is due again."""
    parent, _, last = name.rpartition("/")
    claimed = _CLAIMED.fullmatch(last) if parent == home.night.name else None
    return f"{parent}/{claimed[1]}.pending" if claimed else name


def _left_out(home: Home, name: str) -> bool:
    parts = PurePosixPath(name).parts
    below = parts[2:] if parts[0] == home.members.name else parts
    if below[:1] == (home.cache.name,) or below[:2] == (home.store.name, "tmp"):
        return True
    if parts[:2] == home.corpora.relative_to(home.root).parts:
        # Shards, which are made again of the text.
        return True
    if len(parts) == 1 and (name in (home.logs.name, home.reserve.name) or _OF_THE_ENGINE.fullmatch(name)):
        return True
    last = parts[-1]
    if _UNFINISHED.fullmatch(last):
        return True
    if str(PurePosixPath(name).parent) in (".", home.members.name) and last.endswith(_DATABASES):
        return True
    return parts[0] == home.models.name and last.startswith(REMEMBERED)
