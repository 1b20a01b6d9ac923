"""Where a household keeps its files (``ENLACE_HOME``, else the platform's data folder)."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from configs.errors import EnlaceError

# sockaddr_un holds 108 bytes on Linux and 104 on macOS, the closing NUL included.
LONGEST_SOCKET_PATH = 100


class HomeNotWritable(EnlaceError):
    """facts: path, reason."""

    code = "home_not_writable"


@dataclass(frozen=True)
class Home:
    """The folders of one household. Every path is absolute."""

    root: Path

    @classmethod
    def find(cls, environ: Mapping[str, str]) -> Home:
        """The home that ``environ`` names, else the platform's own place for data."""
        named = environ.get("ENLACE_HOME")
        if named:
            return cls(Path(named).expanduser().absolute())
        from platformdirs import user_data_path

        return cls(user_data_path("enlace", appauthor=False).absolute())

    def environment(self, environ: Mapping[str, str]) -> dict[str, str]:
        """``environ`` for a process that is to find this home."""
        return {**environ, "ENLACE_HOME": str(self.root)}

    def look(self) -> None:
        """Raises HomeNotWritable where nobody may see what is in it; one that is not there yet is none of that."""
        try:
            self.config_file.lstat()
        except (FileNotFoundError, NotADirectoryError):
            # What is in the way of a home is told when it is made.
            return
        except OSError as error:
            raise HomeNotWritable(path=str(self.root), reason=error.strerror or str(error)) from error

    def prepare(self) -> None:
        """Make the folders, readable by their owner alone. Raises HomeNotWritable."""
        try:
            for folder in (self.root, *self.prepared):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self.root):
                pass
        except OSError as error:
            raise HomeNotWritable(path=str(self.root), reason=error.strerror or str(error)) from error

    @property
    def prepared(self) -> tuple[Path, ...]:
        """The folders that ``prepare`` makes in the root."""
        return self.members, self.models, self.store, self.runs, self.logs

    @property
    def family_db(self) -> Path:
        return self.root / "family.db"

    @property
    def members(self) -> Path:
        return self.root / "members"

    @property
    def models(self) -> Path:
        return self.root / "models"

    @property
    def forms(self) -> Path:
        """Models in the forms in which they may be served, and what was measured of them."""
        return self.models / "forms"

    @property
    def store(self) -> Path:
        return self.root / "store"

    @property
    def runs(self) -> Path:
        return self.root / "runs"

    @property
    def pretraining(self) -> Path:
        """Models of the family's own: a folder a run, and the corpora that they are trained on."""
        return self.root / "pretraining"

    @property
    def corpora(self) -> Path:
        """Shards and tokenizers, which are made again of the text."""
        return self.pretraining / "corpora"

    @property
    def night(self) -> Path:
        """The markers of trainings that are due, that somebody carries, and of the last one that was carried out."""
        return self.root / "night"

    @property
    def training_paused(self) -> Path:
        """Is there while somebody has paused the trainings: who, and since when."""
        return self.root / "training.paused"

    @property
    def logs(self) -> Path:
        return self.root / "logs"

    @property
    def trainer_log(self) -> Path:
        """What the trainer's processes print, theirs that begin trainings by themselves as well."""
        return self.logs / "trainer.log"

    @property
    def config_file(self) -> Path:
        return self.root / "config.yaml"

    @property
    def interface_file(self) -> Path:
        """What the interface remembers of its own, such as the colours that somebody chose."""
        return self.root / "interface.json"

    @property
    def search_db(self) -> Path:
        """What the search of the web remembers; safe to lose."""
        return self.root / "search.db"

    @property
    def reserve(self) -> Path:
        """Room that is given up when the disk is full; safe to lose."""
        return self.root / "reserve"

    @property
    def cache(self) -> Path:
        """What the trainer can work out again."""
        return self.root / "cache"

    def artifact(self, digest: str) -> Path:
        """Where the store keeps the artifact whose SHA-256 is ``digest`` (64 lower-case hex digits)."""
        return self.store / "sha256" / digest[:2] / digest[2:]

    def member_db(self, member_id: str) -> Path:
        return self.members / f"{member_id}.db"

    def of_member(self, member_id: str) -> Home:
        """What is kept apart for one member beside their database, laid out as a home: runs, store, cache."""
        return Home(self.members / member_id)

    @property
    def engine_lock(self) -> Path:
        """Held (flock) by the one engine of this home as long as it lives."""
        return self.root / "engine.lock"

    @property
    def engine_starting(self) -> Path:
        """Held (flock) by whoever starts an engine of this home, until it answers or has failed."""
        return self.root / "engine.starting"

    @property
    def busy_flag(self) -> Path:
        """Held (flock) by the engine while somebody's answer is being read or written."""
        return self.root / "engine.busy"

    @property
    def engine_socket(self) -> Path:
        """The engine's Unix socket: in the home, or in a private folder where that path would be too long."""
        inside = self.root / "engine.sock"
        if len(os.fsencode(inside)) <= LONGEST_SOCKET_PATH:
            return inside
        digest = hashlib.sha256(os.fsencode(self.root)).hexdigest()[:16]
        return Path(tempfile.gettempdir()) / f"enlace-{os.getuid()}" / f"{digest}.sock"
