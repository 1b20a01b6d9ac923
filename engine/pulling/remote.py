"""A file on a server: what it is, and its bytes from one place to another.

Ranges, validators and what they mean: RFC 9110, sections 13 and 14. A hub of the Hugging Face kind answers with a
redirect to where the bytes are, and says on it what they must be: ``X-Linked-ETag`` is the SHA-256 of a large file,
``X-Linked-Size`` its length.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from dataclasses import dataclass

import httpx

from configs.sections.pulling import PullSettings
from engine.pulling.errors import AddressWrong, HubRefused, PullDamaged
from engine.pulling.part import Identity
from engine.pulling.source import SHA256, Source, shown

OK, PARTIAL, RANGE_WRONG, CONDITION_FAILED = 200, 206, 416, 412
# Answers that another try may not get: too late, too early, too many, and whatever is wrong within the server.
PASSING = (408, 425, 429)
SERVER_ERRORS = 500
CONTENT_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+|\*)")
AGENT = "enlace"


class Dropped(Exception):
    """This try brought nothing (more); another may. ``wait_s``: how long the server asks to be left alone."""

    def __init__(self, reason: str, wait_s: float = 0) -> None:
        super().__init__(reason)
        self.reason, self.wait_s = reason, wait_s


class Changed(Exception):
    """The server has another file there than it had."""


class RangesIgnored(Exception):
    """The server sends the whole file whatever it is asked for."""


@contextlib.asynccontextmanager
async def connections(settings: PullSettings) -> AsyncIterator[tuple[httpx.AsyncClient, httpx.AsyncClient]]:
    """The two clients of a ``Remote``, closed with the block."""
    timeout = httpx.Timeout(settings.stall_timeout_s, connect=settings.connect_timeout_s)
    trust, headers, once = (
        httpx.create_ssl_context(),
        {"User-Agent": AGENT},
        httpx.Limits(max_keepalive_connections=0),
    )
    async with (
        httpx.AsyncClient(timeout=timeout, headers=headers, verify=trust) as client,
        httpx.AsyncClient(timeout=timeout, headers=headers, verify=trust, limits=once) as anew,
    ):
        yield client, anew


@dataclass(frozen=True)
class RemoteFile:
    """What the server says of the file. ``ranges``: whether it gives parts of it."""

    identity: Identity
    ranges: bool

    @property
    def size(self) -> int | None:
        return self.identity.size

    @property
    def validator(self) -> str | None:
        """What a part is asked for by, so that it is of this very file; None where the server gives no means."""
        return self.identity.etag or self.identity.modified


class Remote:
    """Asks for one source's file. ``client`` keeps its connections; ``anew`` makes one for each request.

    A connection on which something went wrong may hold the rest of it, and so may its sisters: whoever tries again asks
    ``anew``. Neither follows redirects of its own.
    """

    def __init__(
        self, client: httpx.AsyncClient, anew: httpx.AsyncClient, source: Source, settings: PullSettings, token: str
    ) -> None:
        self._client, self._anew, self._source, self._settings, self._token = client, anew, source, settings, token
        self._found: httpx.URL | None = None  # where the redirects led the last time

    async def look(self) -> RemoteFile:
        """What the file is. Raises Dropped, HubRefused, AddressWrong, PullDamaged."""
        async with self._get({"Range": "bytes=0-0"}, fresh=True) as (response, linked):
            if response.status_code == RANGE_WRONG:
                raise PullDamaged(name=self._source.name, reason="an empty file")
            partial = _content_range(response)
            size = partial[2] if partial else _length(response)
            linked_size = linked.get("x-linked-size", "")
            if linked_size.isdecimal():
                if size is not None and size != int(linked_size):
                    raise Dropped(f"two sizes: {size}, {linked_size}")
                size = int(linked_size)
            identity = Identity(
                address=self._source.address,
                size=size,
                etag=_strong(response.headers.get("etag")),
                modified=response.headers.get("last-modified"),
                sha256=self._checksum(response, linked),
            )
            return RemoteFile(identity, ranges=partial is not None and partial[:2] == (0, 0) and size is not None)

    @contextlib.asynccontextmanager
    async def part(
        self, file: RemoteFile, start: int, end: int, *, strict: bool, fresh: bool
    ) -> AsyncIterator[tuple[AsyncIterator[bytes], int]]:
        """(the bytes, where they end) from ``start`` to ``end`` at most; a server may give fewer.

        ``strict``: of exactly this file by the server's own validator; else by its size alone. ``fresh``: follow the
        redirects from their beginning. Raises Dropped, Changed, RangesIgnored, HubRefused, AddressWrong.
        """
        headers = {"Range": f"bytes={start}-{end - 1}"}
        if strict and file.validator:
            headers["If-Range"] = file.validator
        async with self._get(headers, fresh=fresh) as (response, linked):
            if response.status_code in (RANGE_WRONG, CONDITION_FAILED):
                raise Changed
            self._compare(file, response, linked, strict=strict)
            if response.status_code == OK:
                raise RangesIgnored
            given = _content_range(response)
            if given is None or given[0] != start or given[1] < start:
                raise Dropped("a part that was not asked for")
            if given[2] not in (None, file.size):
                raise Changed
            async with contextlib.aclosing(self._body(response)) as content:
                yield content, min(end, given[1] + 1)

    @contextlib.asynccontextmanager
    async def whole(self, file: RemoteFile) -> AsyncIterator[AsyncIterator[bytes]]:
        """All bytes from the first on. Raises Dropped, Changed, HubRefused, AddressWrong."""
        async with self._get({}, fresh=True) as (response, linked):
            self._compare(file, response, linked, strict=True)
            length = _length(response)
            if response.status_code != OK:
                raise Dropped("a part that was not asked for")
            if file.size is not None and length is not None and length != file.size:
                raise Changed
            async with contextlib.aclosing(self._body(response)) as content:
                yield content

    def _compare(self, file: RemoteFile, response: httpx.Response, linked: Mapping[str, str], *, strict: bool) -> None:
        """Raises Changed where the answer says of itself that it is of another file."""
        etag = _strong(response.headers.get("etag"))
        if strict and etag and file.identity.etag and etag != file.identity.etag:
            raise Changed
        checksum = self._checksum(response, linked)
        if checksum and file.identity.sha256 and checksum != file.identity.sha256:
            raise Changed

    async def _body(self, response: httpx.Response) -> AsyncGenerator[bytes, None]:
        try:
            async for content in response.aiter_raw():
                yield content
        except httpx.TransportError as error:
            raise Dropped(_said(error)) from error

    def _checksum(self, response: httpx.Response, linked: Mapping[str, str]) -> str | None:
        """The SHA-256 that the hub gives: on its redirect, or as the ETag of a file that it sends itself."""
        given = linked.get("x-linked-etag")
        if given is None and not linked.get("location"):
            given = _strong(response.headers.get("etag"))
        text = (given or "").removeprefix("W/").strip('"').lower()
        return text if SHA256.fullmatch(text) else None

    @contextlib.asynccontextmanager
    async def _get(
        self, headers: Mapping[str, str], *, fresh: bool
    ) -> AsyncIterator[tuple[httpx.Response, Mapping[str, str]]]:
        """(the answer that is no redirect, the headers of the source's own answer), errors of a server raised."""
        try:
            response, linked, direct = await self._follow(headers, fresh=fresh)
        except httpx.TransportError as error:
            raise Dropped(_said(error)) from error
        try:
            self._judge(response, direct=direct)
            yield response, linked
        finally:
            await response.aclose()

    async def _follow(
        self, headers: Mapping[str, str], *, fresh: bool
    ) -> tuple[httpx.Response, Mapping[str, str], bool]:
        first = httpx.URL(self._source.address)
        address = first if fresh or self._found is None else self._found
        direct = address == first
        client = self._anew if fresh else self._client
        # Whoever sends the bytes for the hub says nothing of their SHA-256: its ETag is of a making of its own.
        linked: Mapping[str, str] | None = None if direct else {"location": str(address)}
        for _ in range(self._settings.redirects + 1):
            request = client.build_request("GET", address, headers={**headers, "Accept-Encoding": "identity"})
            if self._token and (address.scheme, address.host, address.port) == (first.scheme, first.host, first.port):
                request.headers["Authorization"] = f"Bearer {self._token}"
            response = await client.send(request, stream=True, follow_redirects=False)
            linked = response.headers if linked is None else linked
            if not response.has_redirect_location:
                self._found = address
                return response, linked, direct
            target = response.headers["location"]
            await response.aclose()
            address = self._target(address, target)
        raise AddressWrong(address=shown(self._source.address), reason="too many redirects")

    def _target(self, address: httpx.URL, location: str) -> httpx.URL:
        """Where a redirect leads; what began encrypted stays so."""
        try:
            target = address.join(location)
        except httpx.InvalidURL as error:
            raise AddressWrong(address=shown(self._source.address), reason=str(error)) from error
        if target.scheme != "https" and (target.scheme != "http" or address.scheme == "https"):
            raise AddressWrong(address=shown(str(target)), reason="a redirect to an address that is not encrypted")
        return target

    def _judge(self, response: httpx.Response, *, direct: bool) -> None:
        """Raises what an answer other than a file means."""
        status = response.status_code
        if status in PASSING or status >= SERVER_ERRORS:
            wait = response.headers.get("retry-after", "")
            raise Dropped(f"{status} {response.reason_phrase}".strip(), float(wait) if wait.isdecimal() else 0)
        if status in (OK, PARTIAL):
            if response.headers.get("content-encoding", "identity").lower() not in ("identity", ""):
                raise PullDamaged(name=self._source.name, reason="the server sends it in another encoding")
            return
        if status in (RANGE_WRONG, CONDITION_FAILED):
            return
        if not direct:
            # An address that a redirect gave may be good for an hour only.
            raise Dropped(f"{status} {response.reason_phrase}".strip())
        raise HubRefused(address=shown(self._source.address), status=status)


def _content_range(response: httpx.Response) -> tuple[int, int, int | None] | None:
    """(first, last, size of all) that a partial answer says it holds."""
    if response.status_code != PARTIAL:
        return None
    found = CONTENT_RANGE.fullmatch(response.headers.get("content-range", "").strip())
    if found is None:
        return None
    return int(found[1]), int(found[2]), None if found[3] == "*" else int(found[3])


def _length(response: httpx.Response) -> int | None:
    length = response.headers.get("content-length", "")
    return int(length) if length.isdecimal() else None


def _strong(etag: str | None) -> str | None:
    """The ETag if it stands for these very bytes; a weak one stands for something alike."""
    return etag if etag and not etag.startswith("W/") else None


def _said(error: httpx.TransportError) -> str:
    return str(error) or type(error).__name__
