"""Vocabularies and chat templates of other models, out of the source distribution of llama-cpp-python.

It is fetched once, through pip, in exactly the version of requirements.lock, and only what is needed of it is kept, in
a folder that git ignores.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / ".cache"
PACKAGE = "llama-cpp-python"
WANTED = re.compile(r"[^/]+/vendor/llama\.cpp/models/((?:templates/)?[^/]+\.(?:jinja|gguf|inp|out))")
PATIENCE = 240  # seconds that pip has for some 80 MB


class SourceMissing(Exception):
    """The source distribution could not be fetched; the message says why and what to do."""


def llama_models() -> Path:
    """The folder ``models`` of llama.cpp's source: ggml-vocab-*.gguf with .inp and .out, templates/*.jinja.

    Raises SourceMissing.
    """
    version = locked_version()
    folder = KEPT / f"{PACKAGE}-{version}"
    if not folder.is_dir():
        KEPT.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=KEPT) as aside:
            unpacked = Path(aside) / "models"
            _unpack(_download(version, Path(aside)), unpacked)
            try:
                os.replace(unpacked, folder)
            except OSError:
                # Another process was as quick: its folder is the same.
                shutil.rmtree(unpacked)
    return folder


def locked_version() -> str:
    """The version of llama-cpp-python that the tests pass with."""
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    found = re.search(rf"^{PACKAGE}==(\S+)$", lock, re.MULTILINE)
    if not found:
        raise SourceMissing(f"requirements.lock does not name {PACKAGE}")
    return found[1]


def _download(version: str, folder: Path) -> Path:
    wanted = f"{PACKAGE}=={version}"
    options = ["--quiet", "--no-deps", "--no-binary", PACKAGE, "--dest", str(folder)]
    command = [sys.executable, "-m", "pip", "download", *options, wanted]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired as error:
        raise SourceMissing(f"pip did not fetch the source of {wanted} within {PATIENCE} s") from error
    except subprocess.CalledProcessError as error:
        last = (error.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise SourceMissing(
            f"the source of {wanted} cannot be fetched ({last}). It needs a package index: connect this machine to "
            f"one, or put the distribution's vendor/llama.cpp/models into {KEPT.name}/{PACKAGE}-{version}"
        ) from error
    found = next(folder.glob("*.tar.gz"), None)
    if found is None:
        raise SourceMissing(f"pip fetched no source of {wanted}")
    return found


def _unpack(archive: Path, folder: Path) -> None:
    (folder / "templates").mkdir(parents=True)
    with tarfile.open(archive) as opened:
        for member in _wanted(opened):
            content = opened.extractfile(member)
            match = WANTED.fullmatch(member.name)
            if content and match:
                with (folder / match[1]).open("wb") as kept:
                    shutil.copyfileobj(content, kept)


def _wanted(archive: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    return (member for member in archive if member.isfile() and WANTED.fullmatch(member.name))
