"""A virtual environment of its own for each peer, made on demand from its pins and kept in the cache.

The folder is ``ENLACE_PEERS``, else the platform's place for caches. An environment is complete when the file
with the digest of its pins is in it, which is written last: one that was left half-made, or whose pins have
changed, is made anew.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.errors import PeerMissing

HERE = Path(__file__).parent
INSTALL_SECONDS = 1800
SHOWN_CHARACTERS = 400
NAMES = ("elia", "litgpt", "llm", "trl", "xllamacpp")


@dataclass(frozen=True)
class Peer:
    """An installed peer: its folder, and where its commands are."""

    name: str
    folder: Path

    @property
    def python(self) -> str:
        return str(self.folder / "bin" / "python")

    def command(self, name: str) -> str:
        return str(self.folder / "bin" / name)


def peers_folder(environ: Mapping[str, str]) -> Path:
    """Where the peers are kept."""
    named = environ.get("ENLACE_PEERS")
    if named:
        return Path(named).expanduser().absolute()
    from platformdirs import user_cache_path

    return user_cache_path("enlace", appauthor=False) / "peers"


def peer(name: str, environ: Mapping[str, str] = os.environ) -> Peer:
    """The peer ``name``, installed if it is not. Raises PeerMissing with pip's own last words."""
    pins = HERE / f"{name}.txt"
    found = Peer(name, peers_folder(environ) / name)
    mark = found.folder / "complete"
    digest = hashlib.sha256(pins.read_bytes()).hexdigest()
    if mark.is_file() and mark.read_text(encoding="ascii") == digest:
        return found
    print(f"Installing the peer {name} in {found.folder} …", file=sys.stderr, flush=True)
    shutil.rmtree(found.folder, ignore_errors=True)
    found.folder.parent.mkdir(parents=True, exist_ok=True)
    _step(name, [sys.executable, "-m", "venv", str(found.folder)], environ)
    _step(name, [found.python, "-m", "pip", "install", "--quiet", "--no-deps", "-r", str(pins)], environ)
    mark.write_text(digest, encoding="ascii")
    return found


def _step(name: str, arguments: list[str], environ: Mapping[str, str]) -> None:
    try:
        subprocess.run(
            arguments, env=dict(environ), check=True, capture_output=True, text=True, timeout=INSTALL_SECONDS
        )
    except (OSError, subprocess.SubprocessError) as error:
        said = getattr(error, "stderr", "") or str(error)
        reason = " ".join(said.split())[-SHOWN_CHARACTERS:]
        raise PeerMissing(f"The peer {name} could not be installed, so its side is left out: {reason}") from error
