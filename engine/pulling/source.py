"""What a person asks for when they name a model: where its file is, what it is to be called, what it must hold."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from configs.sections.engine import EngineSettings
from engine.offers import Offer
from engine.pulling.errors import AddressWrong, ChecksumWrong, ModelNameWrong, ModelUnknown

ENDING = ".gguf"
LONGEST_NAME = 100
# A file's name on every file system: letters of any script, digits, dots, dashes; nothing hidden, nothing above.
NAME = re.compile(r"[^\W_][\w.-]*")
SHA256 = re.compile(r"[0-9a-f]{64}")
# One file of several that hold a model together, as llama.cpp names them.
PART_OF_SEVERAL = re.compile(r"-\d{5}-of-\d{5}\.gguf$", re.IGNORECASE)


@dataclass(frozen=True)
class Source:
    """A model's file elsewhere. ``size`` and ``sha256`` are None where nobody here knows them yet."""

    name: str
    address: str
    size: int | None = None
    sha256: str | None = None

    @property
    def host(self) -> str:
        """The server, as a person knows it."""
        return urlsplit(self.address).hostname or self.address


def source_of(
    wish: str,
    offers: tuple[Offer, ...],
    settings: EngineSettings,
    *,
    name: str | None = None,
    sha256: str | None = None,
) -> Source:
    """The file that ``wish``, a name of the catalogue or an address, stands for; to be kept as ``name``.

    Raises ModelUnknown, ModelNameWrong, AddressWrong, ChecksumWrong.
    """
    if sha256 is not None and not SHA256.fullmatch(sha256.strip().lower()):
        raise ChecksumWrong(checksum=sha256)
    checksum = sha256.strip().lower() if sha256 else None
    if "://" in wish:
        address = checked_address(wish.strip())
        return Source(checked_name(name or name_of(unquote(urlsplit(address).path))), address, sha256=checksum)
    offer = next((offer for offer in offers if offer.name == wish), None)
    address_of_offer = offer.address(settings.hub) if offer else None
    if offer is None or address_of_offer is None:
        known = ", ".join(offer.name for offer in offers if not offer.package)
        raise ModelUnknown(name=wish, known=known)
    return Source(checked_name(name or offer.name), address_of_offer, offer.bytes, checksum or offer.sha256)


def checked_name(name: str) -> str:
    """``name`` as a model may be called. Raises ModelNameWrong."""
    normal = unicodedata.normalize("NFC", name).strip()
    if not NAME.fullmatch(normal) or len(normal.encode()) > LONGEST_NAME:
        raise ModelNameWrong(name=name)
    return normal


def name_of(path: str) -> str:
    """What a model in the file ``path`` is called: the file's name without its ending, blanks as dashes."""
    last = re.split(r"[/\\]", path)[-1]
    stem = last[: -len(ENDING)] if last.lower().endswith(ENDING) else last
    return re.sub(r"\s+", "-", unicodedata.normalize("NFC", stem).strip())


def checked_address(address: str) -> str:
    """``address`` as a file is fetched from it; a page that shows a file is its file. Raises AddressWrong."""
    try:
        parts = urlsplit(address)
        host = parts.hostname
        # An impossible port is told by reading it.
        _ = parts.port
    except ValueError as error:
        raise AddressWrong(address=shown(address), reason=str(error)) from error
    if parts.scheme.lower() not in ("https", "http") or not host:
        raise AddressWrong(address=shown(address), reason="only https and http addresses are fetched")
    path = parts.path.replace("/blob/", "/resolve/", 1)
    if not unquote(path).lower().endswith(ENDING):
        raise AddressWrong(address=shown(address), reason="it does not end in .gguf")
    if PART_OF_SEVERAL.search(path):
        raise AddressWrong(address=shown(address), reason="it is one file of several")
    return parts._replace(path=path, fragment="").geturl()


def shown(address: str) -> str:
    """``address`` as it may be shown and logged: without names, passwords and keys."""
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return address.partition("?")[0].rpartition("@")[2]
    return parts._replace(netloc=host + port, query="", fragment="").geturl()
