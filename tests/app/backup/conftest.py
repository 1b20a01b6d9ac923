"""A home that a family lives in: two members, private words, a snapshot, a model, a training, and what is passing."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import tarfile
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.backup.checking import Tell, Verified
from app.backup.checking import verify as verify_backup
from app.backup.creating import Made
from app.backup.creating import create as create_backup
from app.backup.restoring import Restored
from app.backup.restoring import restore as restore_backup
from configs.home import Home
from configs.settings import Settings
from engine.forms.machine import fingerprint
from engine.forms.records import AdaptedRecord, FormRecord, Shape, write_adapted, write_form
from memory.household import Household
from memory.manifests import Adapter

QUESTION = [{"role": "user", "content": "¿Cómo se llama el gato?"}]
NOW = 1_700_000_000.0
MODEL = b"GGUF" + bytes(range(256)) * 40
ADAPTER, MINE, MERGED = b"what the family taught" * 100, b"what Ana alone taught" * 90, b"merged weights" * 50


def silent(_done: int, _total: int) -> None:
    """Nobody watches."""


@dataclass(frozen=True)
class Family:
    """The home, who lives in it, and the digests of what was trained."""

    home: Home
    ana: str
    bruno: str
    adapter: str
    mine: str
    merged: str
    base: str

    def create(
        self, to: Path, *, models: bool = True, skip_damaged: bool = False, now: float = NOW, tell: Tell = silent
    ) -> Made:
        """A backup of it, in this process."""
        return create_backup(
            self.home,
            to,
            models=models,
            skip_damaged=skip_damaged,
            busy_seconds=5,
            tries=3,
            now=now,
            version="0.1.0",
            readme=f"¡Hola! {to.name}\n",
            tell=tell,
        )


def verify(path: Path) -> Verified:
    return verify_backup(path, silent)


def restore(home: Home, path: Path, *, replace: bool = False) -> Restored:
    return restore_backup(home, path, replace=replace, now=NOW, tell=silent)


@pytest.fixture
def family(home: Home, settings: Settings) -> Family:
    """Nothing of it is open."""
    with Household.open(home, settings.memory) as household:
        ana, bruno = household.members.add("Ana", "es"), household.members.add("Bruno", "en")
        (home.models / "casa.gguf").write_bytes(MODEL)
        base = household.snapshots.file_digest(home.models / "casa.gguf")
        household.snapshots.ensure_base("casa", base)
        adapter, merged = household.artifacts.put_bytes(ADAPTER), household.artifacts.put_bytes(MERGED)
        made = household.snapshots.create(
            "casa", base, adapters=[Adapter(adapter)], parent="v0", run="r0001", reason="training", gate={"kl": 0.1}
        )
        household.snapshots.promote(made.id, "Ana", "because")
        for member, word in ((ana, "secreto de Ana"), (bruno, "Bruno's secret")):
            chats = household.member(member.id).chats
            chats.question(chats.start().id, word)
        household.member(ana.id).lessons.add(QUESTION, chosen="Misu", rejected="Toby")
        own = home.root / "own.gguf"
        own.write_bytes(MINE)
        record = household.member(ana.id).private.promote(own, household.snapshots.current(), "r0002", {})
        own.unlink()
    passing(home)
    form_of(home, base, merged)
    run = home.runs / "r0001" / "prepare"
    run.mkdir(parents=True)
    (run / "data.json").write_text(json.dumps({"lessons": ["ñandú"]}), encoding="utf-8")
    home.config_file.write_text("engine:\n  slots: 2\n", encoding="utf-8")
    return Family(home, ana.id, bruno.id, adapter, record.sha256, merged, base)


def passing(home: Home) -> None:
    """What makes itself again, or is being written right now."""
    for path in (
        home.logs / "engine.log",
        home.cache / "references.bin",
        home.engine_lock,
        home.busy_flag,
        home.models / "big.gguf.part",
        home.models / "big.gguf.lock",
        home.models / "hashes.json",
        home.store / "tmp" / "0123",
        home.runs / ".manifest.yaml.0123abcd",
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"{}")
    with closing(sqlite3.connect(home.search_db)) as search:
        search.execute("CREATE TABLE searches (words)")


def form_of(home: Home, base: str, merged: str) -> None:
    """A form of the model and what is on record of it, as a measurement leaves them."""
    content = b"GGUF in four bits" * 20
    shape = Shape(threads=2, prompt_chunk=64, flash_attention=False, gpu_layers=0)
    digest = hashlib.sha256(content).hexdigest()
    write_form(home, FormRecord(base, fingerprint(), "q4_0", "q4_0.gguf", digest, shape, shape, NOW, ()))
    (home.models / "forms" / base / "q4_0.gguf").write_bytes(content)
    record = AdaptedRecord(fingerprint(), digest, "v1", True, 0.1, merged, 0.1, {}, "", NOW)
    write_adapted(home, base, "0" * 32, record)


def names(path: Path) -> set[str]:
    """The home's files in a backup, by their paths in the home."""
    with tarfile.open(path) as tar:
        return {name.split("/data/", 1)[1] for name in tar.getnames() if "/data/" in name}


def rows(path: Path) -> list[str]:
    """All that a database says, as SQL."""
    with closing(sqlite3.connect(path)) as opened:
        return list(opened.iterdump())


def files(root: Path) -> dict[str, bytes]:
    """Every file below ``root`` but the databases, by its path."""
    found = (path for path in root.rglob("*") if path.is_file() and ".db" not in path.name)
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in found}


def left_in(folder: Path) -> list[str]:
    """What a backup that was not made left behind: files of its own, hidden ones too."""
    return [path.name for path in folder.iterdir() if "casa.tar" in path.name]


def flip(path: Path, at: int = 100) -> None:
    """Turn one bit of a file over; nothing else of it changes."""
    facts = path.stat()
    path.chmod(0o600)
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.write_bytes(content)
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))
