"""The first time that somebody opens Enlace: who they are, in which language, and which model is to answer them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from app.session import Session
    from engine.offers import Offer
    from engine.pulling.events import Event
    from memory.snapshots import Snapshot

# The recommended one, and smaller ones that would be here sooner.
_MOST_OFFERED: Final = 3
_SMALLER: Final = 0.75


@dataclass(frozen=True)
class ModelChoice:
    """A model that may answer. ``here``: nothing is to be downloaded; ``recommended``: what suits this machine best."""

    name: str
    title: str
    bytes: int
    languages: tuple[str, ...]
    here: bool
    recommended: bool


def is_first(session: Session) -> bool:
    """Whether nobody has ever been here, so that whoever comes is asked who they are."""
    return session.unnamed and not session.household.members.list()


def models(session: Session, language: str) -> list[ModelChoice]:
    """What may answer on this machine: what is here first, then what may be downloaded, the recommended one before the
    others. None where the household has a server of its own, which chooses its models itself.
    """
    from engine.catalogue import list_models
    from engine.fit import available_memory
    from engine.offers import needs, offers, recommended

    settings = session.settings.engine
    if settings.server.kind != "own":
        return []
    known, available = offers(), available_memory()
    best = recommended(known, available, settings, ("es", language))
    by_name = {offer.name: offer for offer in known}
    here = []
    for model in list_models(session.home):
        offer = by_name.get(model.name)
        same = offer is not None and offer.bytes == model.size
        title, languages = (offer.title, offer.languages) if offer and same else (model.name, ())
        here.append(
            ModelChoice(model.name, title, model.size, languages, True, best is not None and best.name == model.name)
        )
    # The one that is set up to answer is what Enter chooses.
    here.sort(key=lambda choice: choice.name != settings.model)
    names = {choice.name for choice in here}
    fitting = [
        offer
        for offer in known
        if language in offer.languages and (available is None or needs(offer, settings) <= available)
    ]
    offered: list[Offer] = [best] if best is not None and best.name not in names else []
    for offer in sorted(fitting, key=lambda offer: -offer.bytes):
        # Of models that are nearly as large as one another, one is choice enough.
        if offer.name not in names and best is not None and offer.bytes <= _SMALLER * (offered or [best])[-1].bytes:
            offered.append(offer)
    return here + [
        ModelChoice(offer.name, offer.title, offer.bytes, offer.languages, False, offer == best)
        for offer in offered[:_MOST_OFFERED]
    ]


def begin(session: Session, name: str, language: str) -> None:
    """Have somebody be the first member, in their language; called again, by another name. Raises MemberNameWrong."""
    members = session.household.members
    if not members.list():
        members.add(name, language)
        return
    first = members.rename(members.default().id, name)
    members.set_language(first.id, language)


async def fetch_and_use(session: Session, name: str, tell: Callable[[Event], None]) -> Snapshot:
    """Download a model of the catalogue while another answers, and have it answer from then on.

    Cancelled, it keeps what has arrived. Raises what ``pull`` and ``use_model`` raise.
    """
    from app.using_models import use_model
    from engine.offers import offers
    from engine.pulling.pull import pull
    from engine.pulling.source import source_of

    settings = session.settings.engine
    await pull(session.home, source_of(name, offers(), settings), settings, tell)
    return await use_model(session, name)
