"""Data sets of a hub of the Hugging Face kind: what files there are, and each of them on this machine, whole.

https://huggingface.co/docs/hub/api: a data set's description names its revision and its files; a file is fetched at
that revision, in parts, with a journal, and held to the hub's checksum, by the same means as a model
(``engine/pulling``).
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import httpx

from configs.errors import EnlaceError
from configs.sections.engine import EngineSettings
from engine.pulling.digest import Digest
from engine.pulling.events import Event, Retrying
from engine.pulling.fetch import Fetch
from engine.pulling.part import Part
from engine.pulling.patience import Patience, Pauses
from engine.pulling.remote import Changed, Dropped, RangesIgnored, Remote, RemoteFile, connections
from engine.pulling.source import Source
from trainer.corpus.errors import DataSetNotFetched, DataSetUnreadable
from trainer.corpus.preparing import Interrupted
from trainer.corpus.readers.decoding import plain_name
from trainer.corpus.readers.sources import ENDINGS, Place
from trainer.room import room_at, write_whole
from trainer.telling import Tell

LISTING: Final = "files.json"
MAIN: Final = "main"
# What is read of a data set, in the order of preference for a file that ends in several ways.
FORMS: Final = ("jsonl", "text", "epub")


class Hub:
    """Fetches into ``folder``; ``stopping`` says whether to end, and what has arrived stays for the next time."""

    def __init__(self, folder: Path, settings: EngineSettings, tell: Tell, stopping: Callable[[], bool]) -> None:
        self._folder, self._settings, self._tell, self._stopping = folder / "hub", settings, tell, stopping

    def fetch(self, asked: str) -> list[Place]:
        """The files of the data set ``asked`` (``OWNER/NAME`` or ``OWNER/NAME@REVISION``), all on this machine.

        What was fetched once is not asked for again. Raises DataSetNotFetched, DataSetUnreadable, NoRoom, Interrupted.
        """
        name, _, revision = asked.partition("@")
        folder = self._folder / name.replace("/", "__") / (revision or MAIN)
        try:
            listed: dict[str, str] = json.loads((folder / LISTING).read_text(encoding="utf-8"))
            if all((folder / path).is_file() for path in listed):
                return _places(folder, listed)
        except (OSError, ValueError):
            # It was not fetched to its end yet.
            pass
        with room_at(folder):
            folder.mkdir(parents=True, exist_ok=True)
            listed = asyncio.run(self._fetched(name, revision or MAIN, folder))
        write_whole(folder / LISTING, json.dumps(listed, indent=1).encode())
        return _places(folder, listed)

    async def _fetched(self, name: str, revision: str, folder: Path) -> dict[str, str]:
        """Each file's path, and its form, once all are there."""
        pull = self._settings.pull
        async with connections(pull) as (client, anew):
            described = await self._described(client, name, revision)
            paths = [str(each["rfilename"]) for each in described.get("siblings", ()) if _inside(each.get("rfilename"))]
            listed = {path: form for path in sorted(paths) if (form := _form(path))}
            if not listed:
                raise DataSetUnreadable(name=name, files=", ".join(sorted(paths)[:10]))
            for number, path in enumerate(listed):
                if not (folder / path).is_file():
                    address = f"{self._hub}/datasets/{name}/resolve/{quote(str(described['sha']))}/{quote(path)}"
                    self._tell("fetching", number / len(listed), {"name": name, "file": path, "files": len(listed)})
                    await self._one(Remote(client, anew, Source(path, address), pull, self._token), folder, path, name)
        return listed

    @property
    def _hub(self) -> str:
        return self._settings.hub.rstrip("/")

    @property
    def _token(self) -> str:
        return self._settings.hub_token

    async def _described(self, client: httpx.AsyncClient, name: str, revision: str) -> Mapping[str, Any]:
        """What the hub says of the data set."""
        address = f"{self._hub}/api/datasets/{name}/revision/{quote(revision)}"
        patience = self._patience(self._settings.pull.first_attempts)
        headers = {"Authorization": f"Bearer {self._token}"} if self._token else {}
        while True:
            try:
                answer = await client.get(address, headers=headers)
                if answer.status_code == httpx.codes.OK:
                    told: Mapping[str, Any] = answer.json()
                    return told if told.get("sha") else {**told, "sha": revision}
                if answer.status_code < httpx.codes.INTERNAL_SERVER_ERROR:
                    raise DataSetNotFetched(name=name, file="", reason=f"the hub answers {answer.status_code}")
                failure = Dropped(f"{answer.status_code} {answer.reason_phrase}")
            except httpx.TransportError as error:
                failure = Dropped(str(error) or type(error).__name__)
            except ValueError as error:
                raise DataSetNotFetched(name=name, file="", reason="the hub's answer is no JSON") from error
            await self._paused(patience, failure, name, "")

    async def _one(self, remote: Remote, folder: Path, path: str, name: str) -> None:
        """Have one file, whole and as the hub says that it is, in ``folder``."""
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        part = Part(target.parent, target.name, ending="")
        try:
            for _ in range(self._settings.pull.fresh_starts + 1):
                file = await self._looked(remote, name, path)
                part.adopt(file.identity)
                digest = await self._arrived(remote, part, file, name, path)
                if digest is not None and file.identity.sha256 in (None, digest):
                    part.finish(target)
                    return
                part.restart()
            raise DataSetNotFetched(name=name, file=path, reason="what arrives is not what the hub says that it is")
        finally:
            part.settle()
            part.close()

    async def _arrived(self, remote: Remote, part: Part, file: RemoteFile, name: str, path: str) -> str | None:
        """The SHA-256 of the file once all of it is there; None where it changed meanwhile."""
        ranges = file.ranges
        while True:
            digest = Digest(part)
            fetch = Fetch(
                remote,
                part,
                replace(file, ranges=ranges),
                self._settings.pull,
                strict=True,
                moved=self._moved,
                patience=self._patience,
                digest=digest,
                begins=b"",
            )
            try:
                await fetch.run()
                return await digest.finish(lambda _: None)
            except RangesIgnored:
                ranges = False
            except Changed:
                return None
            except EnlaceError as error:
                raise _not_fetched(error, name, path) from error

    async def _looked(self, remote: Remote, name: str, path: str) -> RemoteFile:
        patience = self._patience(self._settings.pull.first_attempts)
        while True:
            try:
                return await remote.look()
            except Dropped as failure:
                await self._paused(patience, failure, name, path)
            except EnlaceError as error:
                raise _not_fetched(error, name, path) from error

    async def _paused(self, patience: Patience, failure: Dropped, name: str, path: str) -> None:
        self._moved(0)
        try:
            await patience.pause(failure)
        except EnlaceError as error:
            raise _not_fetched(error, name, path) from error

    def _patience(self, attempts: int | None = None) -> Patience:
        pull = self._settings.pull
        return Patience(self._hub, attempts or pull.attempts, pull, Pauses(asyncio.sleep, random.random, self._said))

    def _said(self, event: Event) -> None:
        if isinstance(event, Retrying):
            self._tell("retrying", None, {"reason": event.reason, "seconds": event.wait_s})

    def _moved(self, _: int) -> None:
        if self._stopping():
            raise Interrupted


def _not_fetched(error: EnlaceError, name: str, path: str) -> DataSetNotFetched:
    told = error.facts.get("reason") or f"the hub answers {error.facts.get('status', error.code)}"
    return DataSetNotFetched(name=name, file=path, reason=told)


def _form(path: str) -> str | None:
    """As what a file is read; None where it is no text that can be read, or tells of the data set itself."""
    name = plain_name(Path(path))
    return next((form for form in FORMS if name.endswith(ENDINGS[form])), None)


def _inside(path: object) -> bool:
    """Whether a hub's path stays in the data set's folder."""
    return isinstance(path, str) and bool(path) and not path.startswith("/") and ".." not in Path(path).parts


def _places(folder: Path, listed: Mapping[str, str]) -> list[Place]:
    return [Place(folder / path, form) for path, form in sorted(listed.items())]
