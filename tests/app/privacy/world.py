"""A household in which everybody does what comes to mind, and what reaches any of them is held to what they may see.

Every private text holds a word of its own. A word is its member's alone until something that holds it is shared, by a
command that says so; from then on it may be seen by anybody.
"""

from __future__ import annotations

import contextlib
import io
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from app import command
from app.session import Session
from configs.home import Home
from configs.settings import Settings
from memory.meaning.embedder import Embedder
from tests.app.privacy.recording_engine import RecordingEngine

_DIMENSIONS: Final = 384
NAMES = ("Ana", "Bruno", "Carla")


@dataclass(frozen=True)
class Ran:
    """How a command ended, and what it wrote."""

    code: int
    out: str
    err: str


@dataclass
class World:
    """``secrets``: each word that is private still, with whose it is. ``ids``: of each kind, whose it is and the id."""

    home: Home
    engine: RecordingEngine
    secrets: dict[str, str] = field(default_factory=dict)
    ids: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    told: int = 0

    @property
    def environ(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("ENLACE_")}
        return {**kept, "ENLACE_HOME": str(self.home.root), "LANG": "en_GB.UTF-8"}

    def secret(self, member: str) -> str:
        """A new word of this member's, the same length as all others and part of none."""
        self.told += 1
        word = "qzx" + "".join(chr(ord("a") + int(digit)) for digit in f"{self.told:04}") + "vw"
        self.secrets[word] = member
        return word

    def release(self, text: str) -> None:
        """Let everybody see the words in a text that its member has just shared."""
        for word in [word for word in self.secrets if word in text]:
            del self.secrets[word]

    def know(self, kind: str, owner: str, id_: str) -> None:
        self.ids.setdefault(kind, []).append((owner, id_))

    def ids_of_others(self, kind: str, member: str) -> list[str]:
        return [id_ for owner, id_ in self.ids.get(kind, []) if owner != member]

    def run(self, member: str, *arguments: str, stdin: str = "") -> Ran:
        """A command as a member types it. Whatever comes of it is looked through."""
        out, err = io.StringIO(), io.StringIO()
        with (
            environment(self.environ | {"ENLACE_MEMBER": member}),
            given(stdin),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            code = command.run(arguments)
        ran = Ran(code, out.getvalue(), err.getvalue())
        self.look(member, " ".join(arguments), ran.out + ran.err)
        return ran

    @contextlib.contextmanager
    def session(self, member: str) -> Iterator[Session]:
        """What the screens use, as a member."""
        with Session(self.environ, member=member) as opened:
            yield opened
        self.look(member, "a prompt", "")

    def look(self, member: str, where: str, text: str) -> None:
        """Fail where a member is shown a word that is another's alone, or their question has the model shown one."""
        for place, seen in ((where, text), *((f"a prompt of {where}", prompt) for prompt in self.engine.prompts)):
            low = seen.lower()
            for word, owner in self.secrets.items():
                assert owner == member or word not in low, f"{member} saw {owner}'s {word} in: {place}\n{seen}"
        self.engine.prompts.clear()

    def look_at_files(self) -> None:
        """No file that somebody else's programs open, and nothing that everybody's do, holds a private word."""
        with self.session(NAMES[0]) as session:
            owners = {f"{m.id}": m.name for m in session.household.members.list()}
        for path in self.home.root.rglob("*"):
            if not path.is_file() or path.is_relative_to(self.home.models):
                continue
            below = path.relative_to(self.home.root).parts
            whose = owners.get(below[1].partition(".")[0]) if below[0] == "members" else None
            content = path.read_bytes()
            for word, owner in self.secrets.items():
                assert owner == whose or word.encode() not in content, f"{owner}'s {word} is in {path}"


@contextlib.contextmanager
def environment(variables: dict[str, str]) -> Iterator[None]:
    """The process's own variables are these inside."""
    before = dict(os.environ)
    os.environ.clear()
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextlib.contextmanager
def given(text: str) -> Iterator[None]:
    """This is what is typed inside."""
    import sys

    before = sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8")
    try:
        yield
    finally:
        sys.stdin = before


def make_light(patched: pytest.MonkeyPatch, engine: RecordingEngine) -> None:
    """Have every engine be the one that remembers and repeats, and every text mean the same as every other.

    Vectors that are all alike leave nothing but the rules of who may see what. Settings are read once.
    """
    from configs import settings

    read = settings.load_settings
    kept: dict[str, Settings] = {}

    def once(home: Home, environ: Mapping[str, str], options: Mapping[str, Any] | None = None) -> Settings:
        key = repr(
            sorted((name, value) for name, value in environ.items() if name.startswith("ENLACE_") and "__" in name)
        )
        if key not in kept:
            kept[key] = read(home, environ, options or {})
        return kept[key]

    def alike(_: Embedder, kind: str, texts: Sequence[str]) -> Any:
        engine.prompts += texts
        return np.full((len(texts), _DIMENSIONS), _DIMENSIONS**-0.5, dtype=np.float32)

    patched.setattr(settings, "load_settings", once)
    patched.setattr("engine.choice.open_engine", lambda *_: engine)
    patched.setattr(Session, "start_engine_early", lambda _: None)
    patched.setattr("memory.meaning.places.installed", lambda: True)
    patched.setattr(Embedder, "version", "alike")
    patched.setattr(Embedder, "vectors", alike)


def furnish(template: Home) -> None:
    """A home with three members, Carla a child, in which nobody has said anything."""
    environ = {**os.environ, "ENLACE_HOME": str(template.root), "LANG": "en_GB.UTF-8"}
    with Session(environ) as session:
        members = session.household.members
        for name in NAMES:
            session.household.member(members.add(name, "en").id)
        members.set_standing(NAMES[2], "child")
        session.snapshot()


def inhabited(template: Home, folder: Path, engine: RecordingEngine) -> World:
    """A copy of a furnished home, to live in."""
    root = folder / "home"
    shutil.copytree(template.root, root, ignore=shutil.ignore_patterns("models"), symlinks=True)
    return World(Home(root), engine)
