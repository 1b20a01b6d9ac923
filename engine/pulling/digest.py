"""The SHA-256 of a file that is still arriving, computed as far as its beginning is there without a gap."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import hashlib

from engine.fit import MB
from engine.pulling.events import Checking, Tell
from engine.pulling.part import Part

BLOCK = 16 * MB


class Digest:
    """Follows one part through one attempt. After an attempt that was cancelled it is good for nothing."""

    def __init__(self, part: Part) -> None:
        self._part = part
        self._enough = asyncio.Event()
        self._begin()

    async def follow(self, poll_s: float) -> None:
        """Take in what arrives until ``stop``; in whole blocks, in threads of their own. Raises OSError."""
        while not self._enough.is_set():
            if self._part.beginning() - self._done >= BLOCK or self._restarted():
                await self._step()
                continue
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._enough.wait(), poll_s)

    def stop(self) -> None:
        """Have ``follow`` end once it has taken in the block that it is at."""
        self._enough.set()

    async def finish(self, tell: Tell) -> str:
        """The digest of the whole file, all of which is there. Raises OSError."""
        total = self._part.beginning()
        while self._done < total or self._restarted():
            await self._step()
            tell(Checking(self._done, total))
        return self._hash.hexdigest()

    async def _step(self) -> None:
        if self._restarted():
            self._begin()
        count = min(BLOCK, self._part.beginning() - self._done)
        block = await asyncio.to_thread(self._part.read, self._done, count)
        if count and not block and not self._restarted():
            raise OSError(errno.EIO, "the file became shorter by itself")
        await asyncio.to_thread(self._hash.update, block)
        # Where the part began anew in the meantime, the next step does so too.
        self._done += len(block)

    def _begin(self) -> None:
        self._hash, self._done, self._beginnings = hashlib.sha256(), 0, self._part.beginnings

    def _restarted(self) -> bool:
        return self._beginnings != self._part.beginnings
