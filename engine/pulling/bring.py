"""``import``: a GGUF file that the family has already, copied or linked into the home, and checked before."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import os
import shutil
from pathlib import Path

from configs.disk import sync
from configs.home import Home
from configs.sections.engine import EngineSettings
from engine.catalogue import model_path
from engine.errors import ModelBroken, ModelMissing
from engine.fingerprint import file_sha256, remember_sha256
from engine.fit import MB
from engine.gguf import check_gguf
from engine.pulling.digest import BLOCK
from engine.pulling.errors import LinkImpossible, ModelExists, ModelUnwritable, NoModelFile, NoRoomForModel
from engine.pulling.events import Checking, Pulled, Tell
from engine.pulling.lock import locked
from engine.pulling.pull import FULL_DISK
from engine.pulling.source import ENDING, checked_name, name_of

ASIDE = ".gguf.import"


async def bring(
    home: Home, path: Path, settings: EngineSettings, tell: Tell, *, name: str | None = None, link: bool = False
) -> Pulled:
    """Have the file ``path`` in the home as the model ``name`` (else as the file is called).

    ``link``: as a second name of the same file, which must then not be changed. Raises NoModelFile, ModelBroken,
    ModelNameWrong, ModelExists, NoRoomForModel, ModelUnwritable, LinkImpossible.
    """
    called = checked_name(name or name_of(path.name))
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise NoModelFile(path=str(path)) from error
    except OSError as error:
        raise ModelBroken(path=str(path), reason=error.strerror or str(error)) from error
    _check(path)
    try:
        async with locked(home.models, called, settings.pull.lock_poll_s, tell):
            here = _here(home, called)
            if here:
                return await _compared(home, called, here, path)
            return await _bring(home, path.resolve(), called, settings, tell, link=link)
    except OSError as error:
        if error.errno in FULL_DISK:
            raise _no_room(home, path.stat().st_size, settings) from error
        raise ModelUnwritable(path=str(home.models), reason=error.strerror or str(error)) from error


async def _bring(home: Home, path: Path, name: str, settings: EngineSettings, tell: Tell, *, link: bool) -> Pulled:
    aside, target = home.models / f"{name}{ASIDE}", home.models / f"{name}{ENDING}"
    if target.is_symlink():
        # Somebody's model on a disk that is not there just now.
        raise ModelExists(name=name, path=str(target))
    try:
        aside.unlink(missing_ok=True)
        digest = None
        if link:
            _link(path, aside)
        else:
            if path.stat().st_size + settings.pull.disk_reserve_mb * MB > shutil.disk_usage(home.models).free:
                raise _no_room(home, path.stat().st_size, settings)
            digest = await _copy(path, aside, tell)
        # What was checked before may have been another file by now.
        _check(aside, told_as=path)
        os.replace(aside, target)
        sync(home.models)
    finally:
        aside.unlink(missing_ok=True)
    if digest:
        remember_sha256(home, target, digest)
    return Pulled(name, target, target.stat().st_size, digest, verified=False, already=False)


async def _copy(path: Path, aside: Path, tell: Tell) -> str:
    """Copy ``path`` to ``aside`` and onto the disk; its SHA-256. Raises ModelUnwritable where it changes meanwhile."""
    digest, done = hashlib.sha256(), 0
    with path.open("rb") as source, open(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as copy:
        before = os.fstat(source.fileno())
        # No further than it reached at the beginning: a file that grows would never end.
        while block := await asyncio.to_thread(source.read, min(BLOCK, before.st_size - done)):
            await asyncio.to_thread(copy.write, block)
            await asyncio.to_thread(digest.update, block)
            done += len(block)
            tell(Checking(done, before.st_size))
        copy.flush()
        await asyncio.to_thread(os.fsync, copy.fileno())
        after = os.fstat(source.fileno())
    if done != before.st_size or (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        raise ModelUnwritable(path=str(path), reason="it changed while it was copied")
    return digest.hexdigest()


def _link(path: Path, aside: Path) -> None:
    try:
        os.link(path, aside)
    except OSError as error:
        elsewhere = error.errno == errno.EXDEV
        reason = "it is on another disk" if elsewhere else error.strerror or str(error)
        raise LinkImpossible(path=str(path), reason=reason) from error


def _check(path: Path, told_as: Path | None = None) -> None:
    """Raises ModelBroken for anything but a whole model."""
    try:
        summary = check_gguf(path)
    except ModelBroken as error:
        raise ModelBroken(path=str(told_as or path), reason=error.facts["reason"]) from error
    if summary.kind != "model":
        raise ModelBroken(path=str(told_as or path), reason=f"not a model but: {summary.kind}")


def _here(home: Home, name: str) -> Path | None:
    try:
        return model_path(home, name)
    except ModelMissing:
        return None


async def _compared(home: Home, name: str, here: Path, path: Path) -> Pulled:
    """The model that has this name already, if it is the very file. Raises ModelExists."""
    size = path.stat().st_size
    if here.stat().st_size != size:
        raise ModelExists(name=name, path=str(here))
    ours = await asyncio.to_thread(file_sha256, home, here)
    if not here.samefile(path) and ours != await asyncio.to_thread(_sha256, path):
        raise ModelExists(name=name, path=str(here))
    return Pulled(name, here, size, ours, verified=False, already=True)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _no_room(home: Home, size: int, settings: EngineSettings) -> NoRoomForModel:
    needed, free = size + settings.pull.disk_reserve_mb * MB, shutil.disk_usage(home.models).free
    return NoRoomForModel(path=str(home.models), needed_mb=needed // MB, available_mb=free // MB)
