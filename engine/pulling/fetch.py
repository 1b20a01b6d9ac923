"""Gets the missing bytes of a file: several parts at a time where the server gives parts, else all of it in one go."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from configs.sections.pulling import PullSettings
from engine.fit import MB
from engine.gguf_reader import MAGIC
from engine.pulling.digest import Digest
from engine.pulling.errors import PullDamaged
from engine.pulling.part import Part
from engine.pulling.patience import Patience
from engine.pulling.remote import Dropped, Remote, RemoteFile
from engine.pulling.spans import Span, pieces


@dataclass
class _Cursor:
    """Where the next byte goes. Only what comes beyond ``furthest`` is new."""

    at: int
    furthest: int = 0


class Fetch:
    """One attempt to complete ``part``. ``moved`` is called whenever something has arrived.

    ``strict``: see ``Remote.part``. ``patience`` makes one for each connection. ``digest`` takes in what arrives.
    ``begins``: the bytes that every such file begins with.
    """

    def __init__(
        self,
        remote: Remote,
        part: Part,
        file: RemoteFile,
        settings: PullSettings,
        *,
        strict: bool,
        moved: Callable[[int], None],
        patience: Callable[[], Patience],
        digest: Digest,
        begins: bytes = MAGIC,
    ) -> None:
        self._begins = begins
        self._remote, self._part, self._file, self._settings = remote, part, file, settings
        self._strict, self._moved, self._patience, self._digest = strict, moved, patience, digest

    async def run(self) -> None:
        """Have all bytes in the part.

        Raises HubUnreachable, HubRefused, PullDamaged, Changed, RangesIgnored, OSError.
        """
        try:
            async with asyncio.TaskGroup() as group:
                ticking = group.create_task(self._keep_checkpoints())
                group.create_task(self._digest.follow(self._settings.progress_s))
                # Parts may only be put together where something tells that they are of one file.
                if self._file.ranges and (self._file.validator or self._file.identity.sha256):
                    await self._in_parts(group)
                else:
                    await self._in_one_go()
                ticking.cancel()
                self._digest.stop()
        except BaseExceptionGroup as failed:
            raise failed.exceptions[0] from None

    async def _in_parts(self, group: asyncio.TaskGroup) -> None:
        missing = deque(pieces(self._part.spans.gaps(self._file.size or 0), self._settings.part_mb * MB))
        count = min(self._settings.connections, len(missing))
        workers = [group.create_task(self._work_off(missing)) for _ in range(count)]
        if workers:
            await asyncio.wait(workers)

    async def _work_off(self, missing: deque[Span]) -> None:
        while missing:
            start, end = missing.popleft()
            await self._piece(start, end)

    async def _piece(self, start: int, end: int) -> None:
        patience, cursor = self._patience(), _Cursor(start)
        while cursor.at < end:
            fresh, began = patience.failures > 0, cursor.at
            try:
                part = self._remote.part(self._file, cursor.at, end, strict=self._strict, fresh=fresh)
                async with part as (content, given):
                    await self._write(content, cursor, given, patience)
                if cursor.at == began:
                    raise Dropped("nothing came")
            except Dropped as failure:
                await patience.pause(failure)

    async def _in_one_go(self) -> None:
        """Every try begins at the first byte; only those that come further than all before count as moving."""
        patience, furthest = self._patience(), 0
        while True:
            self._part.restart()
            cursor = _Cursor(0, furthest)
            try:
                async with self._remote.whole(self._file) as content:
                    await self._write(content, cursor, self._file.size, patience)
                if cursor.at < (self._file.size or 1):
                    raise Dropped("the end is missing")
                self._part.cut(cursor.at)
                return
            except Dropped as failure:
                furthest = max(furthest, cursor.at)
                await patience.pause(failure)

    async def _write(self, content: AsyncIterator[bytes], cursor: _Cursor, end: int | None, patience: Patience) -> None:
        """Write what comes from the cursor on and never beyond ``end``; the cursor is then behind it."""
        async for arrived in content:
            wanted = arrived if end is None else arrived[: end - cursor.at]
            if not wanted:
                return  # more than was asked for
            if cursor.at == 0 and not wanted.startswith(self._begins[: len(wanted)]):
                # A page that asks to log in, most likely; why wait for the rest?
                raise PullDamaged(name=self._part.name, reason="not a GGUF file")
            self._part.write(cursor.at, wanted)
            cursor.at += len(wanted)
            if cursor.at > cursor.furthest:
                patience.moved()
            self._moved(len(wanted))

    async def _keep_checkpoints(self) -> None:
        while True:
            await asyncio.sleep(self._settings.checkpoint_s)
            await self._part.checkpoint()
