"""Where a server is, and the connection to it: what is said in the house goes to no public address unasked."""

from __future__ import annotations

import asyncio
import ipaddress
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from configs.sections.server import ServerSettings
from engine.elsewhere.errors import ServerAddressWrong, ServerKeyMissing, ServerOutside
from engine.wire import Header, NobodyThere, Streams, TookTooLong

PORTS = {"http": 80, "https": 443}
# People copy the address that OpenAI's clients want; the servers' own paths begin above it.
OPENAI_PREFIX = "/v1"


@dataclass(frozen=True)
class WebPlace:
    """A server at a host and port. ``headers`` go with every request and are shown nowhere: one is the key."""

    kind: str
    url: str
    name: str
    port: int
    prefix: str
    secure: bool
    outside: bool
    ca_file: str
    connect_timeout_s: float
    headers: tuple[Header, ...] = field(repr=False)

    @property
    def host(self) -> str:
        """As the header ``Host`` says it."""
        name = f"[{self.name}]" if ":" in self.name else self.name
        return name if self.port == PORTS["https" if self.secure else "http"] else f"{name}:{self.port}"

    async def open(self) -> Streams:
        """Raises NobodyThere, TookTooLong, and ServerOutside before a byte is sent there."""
        try:
            async with asyncio.timeout(self.connect_timeout_s):
                reader, writer = await asyncio.open_connection(self.name, self.port)
                try:
                    self._check_inside(str(writer.get_extra_info("peername")[0]))
                    if self.secure:
                        await writer.start_tls(self._trust(), server_hostname=self.name)
                except BaseException:
                    writer.transport.abort()
                    raise
        except TimeoutError as error:
            raise TookTooLong(f"{self.connect_timeout_s:g} s") from error
        except (OSError, UnicodeError) as error:
            # UnicodeError: a host that no name server can be asked for.
            raise NobodyThere(str(error) or type(error).__name__) from error
        return reader, writer

    def _check_inside(self, address: str) -> None:
        """The address that was reached, not the one that a name server told somebody else a moment ago."""
        if not self.outside and is_public(address):
            raise ServerOutside(kind=self.kind, url=self.url, address=address)

    def _trust(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=self.ca_file or None)


def is_public(address: str) -> bool:
    """Whether the whole world can have this IP address; an address that is none counts as public."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return True
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return (mapped or found).is_global


def place_of(settings: ServerSettings, environ: Mapping[str, str]) -> WebPlace:
    """The place that the settings name, with the key that they name. Raises ServerAddressWrong, ServerKeyMissing."""
    parts = _parts(settings.url.strip())
    secure = parts.scheme == "https"
    key = _key(settings, environ)
    return WebPlace(
        kind=settings.kind,
        url=_shown(parts),
        name=str(parts.hostname),
        port=parts.port or PORTS[parts.scheme],
        prefix=_prefix(parts),
        secure=secure,
        outside=settings.outside,
        ca_file=settings.ca_file,
        connect_timeout_s=settings.connect_timeout_s,
        headers=(("Accept-Encoding", "identity"), *((("Authorization", f"Bearer {key}"),) if key else ())),
    )


def _parts(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        _ = parts.port  # a number out of range is only seen when it is asked for
    except ValueError as error:
        raise ServerAddressWrong(url=_masked(url), reason=str(error)) from error
    if parts.scheme not in PORTS:
        raise ServerAddressWrong(url=_masked(url), reason="it must begin with http:// or https://")
    if parts.username is not None or parts.password is not None:
        raise ServerAddressWrong(url=_masked(url), reason="a key does not belong in an address")
    if not parts.hostname or parts.query or parts.fragment or any(c.isspace() or not c.isprintable() for c in url):
        raise ServerAddressWrong(url=_masked(url), reason="a host is needed, and nothing after the path")
    return parts


def _masked(url: str) -> str:
    """Without what stands before an @, which may be a key."""
    head, sign, tail = url.rpartition("@")
    return f"{head.partition('://')[0]}://…@{tail}" if sign else url


def _prefix(parts: SplitResult) -> str:
    return parts.path.rstrip("/").removesuffix(OPENAI_PREFIX)


def _shown(parts: SplitResult) -> str:
    return f"{parts.scheme}://{parts.netloc}{_prefix(parts)}"


def _key(settings: ServerSettings, environ: Mapping[str, str]) -> str:
    """The key, or nothing where the settings name none."""
    if settings.key_variable:
        key = environ.get(settings.key_variable, "").strip()
        place = settings.key_variable
    elif settings.key_file:
        place = settings.key_file
        try:
            key = Path(settings.key_file).expanduser().read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise ServerKeyMissing(place=place) from error
    else:
        return ""
    if not key or not key.isascii() or any(c.isspace() or not c.isprintable() for c in key):
        raise ServerKeyMissing(place=place)
    return key
