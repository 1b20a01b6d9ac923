"""``pull``: a model from a hub into the home, whole, checked, and in place only then."""

from __future__ import annotations

import asyncio
import errno
import random
import shutil
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

from configs.home import Home
from configs.sections.engine import EngineSettings
from engine.catalogue import model_path
from engine.errors import ModelBroken, ModelMissing
from engine.fingerprint import file_sha256, remember_sha256
from engine.fit import MB
from engine.gguf import check_gguf
from engine.pulling.digest import Digest
from engine.pulling.errors import ModelExists, ModelUnwritable, NoRoomForModel, PullDamaged
from engine.pulling.events import Moved, Pulled, Restarted, Tell
from engine.pulling.fetch import Fetch
from engine.pulling.lock import locked
from engine.pulling.meter import Meter
from engine.pulling.part import Part
from engine.pulling.patience import Patience, Pauses
from engine.pulling.remote import Changed, Dropped, RangesIgnored, Remote, RemoteFile, connections
from engine.pulling.source import ENDING, Source

FULL_DISK = (errno.ENOSPC, errno.EDQUOT)


class _Damaged(Exception):
    """All bytes arrived, and they are not the right ones."""


async def pull(
    home: Home,
    source: Source,
    settings: EngineSettings,
    tell: Tell,
    *,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    chance: Callable[[], float] = random.random,
    clock: Callable[[], float] = time.monotonic,
) -> Pulled:
    """Have the model of ``source`` in the home.

    Cancelled at any instant, it keeps what has arrived for the next call. Raises HubUnreachable, HubRefused,
    PullDamaged, AddressWrong, NoRoomForModel, ModelUnwritable, and ModelExists where another model has that name.
    """
    one = _Pull(home, source, settings, tell, Pauses(sleep, chance, tell), clock)
    try:
        async with locked(home.models, source.name, settings.pull.lock_poll_s, tell):
            return await one.run()
    except OSError as error:
        if error.errno in FULL_DISK:
            raise one.no_room() from error
        raise ModelUnwritable(path=str(home.models), reason=error.strerror or str(error)) from error


class _Pull:
    def __init__(
        self,
        home: Home,
        source: Source,
        settings: EngineSettings,
        tell: Tell,
        pauses: Pauses,
        clock: Callable[[], float],
    ) -> None:
        self._home, self._source, self._settings = home, source, settings.pull
        self._token = settings.hub_token if source.address.startswith(settings.hub.rstrip("/") + "/") else ""
        self._tell, self._pauses, self._clock = tell, pauses, clock
        self._missing = source.size or 0

    async def run(self) -> Pulled:
        here = self._here()
        if here and self._source.sha256:
            return await self._compared(here, self._source.size, self._source.sha256)
        async with connections(self._settings) as clients:
            remote = Remote(*clients, self._source, self._settings, self._token)
            if here:
                file = await self._look(remote)
                return await self._compared(here, file.size, file.identity.sha256)
            part = Part(self._home.models, self._source.name)
            try:
                return await self._complete(remote, part)
            except PullDamaged:
                part.discard()
                raise
            finally:
                part.settle()
                part.close()

    def no_room(self) -> NoRoomForModel:
        """The error of a disk that is too full."""
        free = shutil.disk_usage(self._home.models).free
        needed = self._missing + self._settings.disk_reserve_mb * MB
        return NoRoomForModel(path=str(self._home.models), needed_mb=needed // MB, available_mb=free // MB)

    def _here(self) -> Path | None:
        try:
            return model_path(self._home, self._source.name)
        except ModelMissing:
            return None

    async def _compared(self, here: Path, size: int | None, sha256: str | None) -> Pulled:
        """The model that has this name already, if it is the one that is wanted. Raises ModelExists."""
        found = here.stat().st_size
        digest = await asyncio.to_thread(file_sha256, self._home, here) if found == size and sha256 else None
        if found != size or digest != sha256:
            raise ModelExists(name=self._source.name, path=str(here))
        return Pulled(self._source.name, here, found, digest, verified=digest is not None, already=True)

    async def _complete(self, remote: Remote, part: Part) -> Pulled:
        strict, ranges, resumed, reason = True, True, None, ""
        for _ in range(self._settings.fresh_starts + 1):
            file = await self._look(remote)
            if part.adopt(file.identity):
                self._tell(Restarted("changed"))
            resumed = len(part.spans) if resumed is None else resumed
            self._check_room(part, file)
            try:
                try:
                    whole = file if ranges else replace(file, ranges=False)
                    taken = await self._fetch(remote, part, whole, strict=strict)
                except RangesIgnored:
                    ranges = False
                    taken = await self._fetch(remote, part, replace(file, ranges=False), strict=strict)
                digest = await self._verified(part, file, taken)
                break
            except Changed:
                # Servers behind one name may each have a validator of their own; a known checksum tells in the end.
                strict, reason = strict and file.identity.sha256 is None, "it changed while it was downloaded"
            except _Damaged as damage:
                reason = str(damage)
                part.restart()
                self._tell(Restarted("damaged"))
        else:
            raise PullDamaged(name=self._source.name, reason=reason)
        return self._put_in_place(part, digest, file, resumed or 0)

    async def _look(self, remote: Remote) -> RemoteFile:
        patience = self._patience(self._settings.first_attempts)
        while True:
            try:
                file = await remote.look()
                break
            except Dropped as failure:
                await patience.pause(failure)
        told, known = file.identity.sha256, self._source.sha256
        if told and known and told != known:
            raise PullDamaged(name=self._source.name, reason="the hub has another file than the one that is known")
        return replace(file, identity=replace(file.identity, sha256=known or told))

    def _check_room(self, part: Part, file: RemoteFile) -> None:
        """Raises NoRoomForModel before anything is fetched in vain."""
        self._missing = max(0, (file.size or self._source.size or 0) - part.allocated())
        free = shutil.disk_usage(self._home.models).free
        if self._missing + self._settings.disk_reserve_mb * MB > free:
            raise self.no_room()

    async def _fetch(self, remote: Remote, part: Part, file: RemoteFile, *, strict: bool) -> Digest:
        """Have all bytes in the part; what has been taken in of their digest on the way."""
        meter = Meter(self._settings.rate_window_s, self._clock)
        told = -self._settings.progress_s

        def moved(count: int) -> None:
            nonlocal told
            meter.add(count)
            if (now := self._clock()) - told >= self._settings.progress_s:
                told = now
                show()

        def show() -> None:
            done, total = len(part.spans), file.size
            left = None if total is None else meter.left(total - done)
            self._tell(Moved(done, total, meter.rate(), left))

        show()
        patience, digest = self._patience, Digest(part)
        fetch = Fetch(remote, part, file, self._settings, strict=strict, moved=moved, patience=patience, digest=digest)
        await fetch.run()
        show()
        return digest

    def _patience(self, attempts: int | None = None) -> Patience:
        return Patience(self._source.host, attempts or self._settings.attempts, self._settings, self._pauses)

    async def _verified(self, part: Part, file: RemoteFile, digest: Digest) -> str:
        """The SHA-256 of what arrived. Raises _Damaged."""
        found, wanted = await digest.finish(self._tell), file.identity.sha256
        if wanted and found != wanted:
            raise _Damaged(f"its SHA-256 is {found}, not {wanted}")
        try:
            summary = await asyncio.to_thread(check_gguf, part.path)
        except ModelBroken as error:
            # A right checksum means that the file is like this over there too: nothing to try again.
            if wanted:
                raise PullDamaged(name=self._source.name, reason=str(error.facts["reason"])) from error
            raise _Damaged(str(error.facts["reason"])) from error
        if summary.kind != "model":
            raise PullDamaged(name=self._source.name, reason=f"not a model but: {summary.kind}")
        return found

    def _put_in_place(self, part: Part, digest: str, file: RemoteFile, resumed: int) -> Pulled:
        target = self._home.models / f"{self._source.name}{ENDING}"
        # Also a link to a disk that is not there just now is somebody's model.
        if target.exists() or target.is_symlink():
            raise ModelExists(name=self._source.name, path=str(target))
        part.finish(target)
        remember_sha256(self._home, target, digest)
        verified = file.identity.sha256 is not None
        return Pulled(
            self._source.name, target, target.stat().st_size, digest, verified, already=False, resumed=resumed
        )
