"""``enlace models list``: what is here, what may be pulled, and what this machine's memory holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from app.bytes_text import size_text
from app.commands.forms_text import form_text
from app.commands.opening import open_session
from app.commands.options import JsonOption
from app.commands.output import write, write_json, write_table

if TYPE_CHECKING:
    from app.catalogue import Catalogue
    from app.session import Session
    from engine.catalogue import ModelFile
    from engine.offers import Offer

_SHOWN_LANGUAGES: Final = 3
# Spanish first, whatever the household speaks otherwise: a model for a Spanish home also speaks English.
_FIRST: Final = "es"


@dataclass(frozen=True)
class _Entry:
    """One model as it is listed."""

    name: str
    path: str | None
    bytes: int
    state: str  # used, here, broken, fits, too_big
    memory_bytes: int | None
    languages: tuple[str, ...]
    licence: str | None
    address: str | None
    form: str | None = None
    form_counts: bool = True  # it was measured on this machine

    def as_json(self, recommended: str | None) -> dict[str, Any]:
        return {
            "name": self.name,
            "path": self.path,
            "bytes": self.bytes,
            "in_use": self.state == "used",
            "installed": self.path is not None,
            "state": self.state,
            "memory_bytes": self.memory_bytes,
            "languages": list(self.languages),
            "licence": self.licence,
            "address": self.address,
            "form": self.form,
            "form_counts": self.form_counts,
            "recommended": self.name == recommended,
        }


def list_models(as_json: JsonOption = False) -> int:
    """The models at hand and those of the catalogue."""
    from engine import offers as known
    from engine.fit import available_memory

    with open_session() as session:
        offers, available = known.offers(), available_memory()
        best = known.recommended(offers, available, session.settings.engine, (_FIRST, session.language))
        entries = _entries(session, offers, available)
        if as_json:
            write_json([entry.as_json(best.name if best else None) for entry in entries])
            return 0
        words = session.catalogue
        heads = [words.text(f"command.models.heads.{head}") for head in ("name", "size", "needs", "languages")]
        heads += [words.text(f"command.models.heads.{head}") for head in ("licence", "state")]
        write_table(heads, [_row(words, entry) for entry in entries])
        write("")
        for line in _advice(words, best, entries, available, session.language):
            write(line)
        return 0


def _entries(session: Session, offers: tuple[Offer, ...], available: int | None) -> list[_Entry]:
    from engine.catalogue import list_models as found_models
    from engine.offers import needs

    settings, used, by_name = session.settings.engine, _used(session), {offer.name: offer for offer in offers}
    here = found_models(session.home)
    entries = [_installed(model, by_name.get(model.name), session, used) for model in here]
    for offer in offers:
        if offer.name not in {model.name for model in here}:
            needed = needs(offer, settings)
            state = "fits" if available is None or needed <= available else "too_big"
            address = offer.address(settings.hub)
            entries.append(
                _Entry(offer.name, None, offer.bytes, state, needed, offer.languages, offer.licence, address)
            )
    return entries


def _installed(model: ModelFile, offer: Offer | None, session: Session, used: str) -> _Entry:
    from engine.errors import ModelBroken
    from engine.forms.serving import form_on_record
    from engine.gguf import check_gguf
    from engine.offers import memory_needed

    needed, state = None, "used" if model.name == used else "here"
    try:
        found = check_gguf(model.path)
        settings = session.settings.engine
        needed = memory_needed(found.file_size, found.cache_bytes_per_token, found.context_length, settings)
    except ModelBroken:
        state = "broken"
    # A file that happens to have the name of another says nothing of its languages.
    known = offer if offer and offer.bytes == model.size else None
    languages, licence = (known.languages, known.licence) if known else ((), None)
    form, counts = form_on_record(session.home, model.path) or (None, True)
    return _Entry(model.name, str(model.path), model.size, state, needed, languages, licence, None, form, counts)


def _used(session: Session) -> str:
    from memory.errors import NoSnapshot

    try:
        return session.household.snapshots.current().base_name
    except NoSnapshot:
        return session.settings.engine.model


def _row(words: Catalogue, entry: _Entry) -> tuple[str, ...]:
    memory = size_text(words, entry.memory_bytes) if entry.memory_bytes else "-"
    languages = _languages(words, entry.languages) if entry.languages else "-"
    state = words.text(f"command.models.states.{entry.state}")
    if entry.form:
        key = "served" if entry.form_counts else "elsewhere"
        state = words.text(f"command.forms.{key}", state=state, form=form_text(words, entry.form))
    return entry.name, size_text(words, entry.bytes), memory, languages, entry.licence or "-", state


def _languages(words: Catalogue, languages: tuple[str, ...]) -> str:
    """A few of them, the reader's own and Spanish before the others."""
    ours = sorted(languages, key=lambda language: language not in (_FIRST, words.language))
    text = ", ".join(ours[:_SHOWN_LANGUAGES])
    more = len(ours) > _SHOWN_LANGUAGES
    return words.text("command.models.many_languages", languages=text) if more else text


def _advice(
    words: Catalogue, best: Offer | None, entries: list[_Entry], available: int | None, language: str
) -> list[str]:
    """What this machine holds, in sentences."""
    if available is None:
        lines = [words.text("command.models.memory_unknown")]
    else:
        lines = [words.text("command.models.memory_free", memory=size_text(words, available))]
    if best is None:
        return lines
    if not {_FIRST, language} & set(best.languages):
        lines.append(words.text("command.models.english_only"))
    if any(entry.name == best.name and entry.path for entry in entries):
        lines.append(words.text("command.models.recommend_here", name=best.name))
    else:
        languages = _languages(words, best.languages)
        lines.append(words.text("command.models.recommend", name=best.name, languages=languages))
    return lines
