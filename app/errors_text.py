"""An error in words: what happened, in one sentence, and what to do, in the reader's language."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Final

from app.catalogue import Catalogue
from app.reasons import reason_in_words, way_out
from app.terminal_text import clean
from configs.errors import EnlaceError

_LONGEST_FACT: Final = 300


@dataclass(frozen=True)
class Explained:
    """Two sentences, safe to show on a terminal."""

    what: str
    next: str

    def __str__(self) -> str:
        return f"{self.what} {self.next}"


def explain(error: EnlaceError, catalogue: Catalogue) -> Explained:
    """The sentences of ``error.code`` with its facts filled in. An error without sentences is told by its code.

    What happened is told in the singular, where there is such a sentence (``one``), of an error whose ``count`` is 1.
    """
    facts: dict[str, object] = defaultdict(lambda: "?")
    for name, value in error.facts.items():
        facts[name] = _short(clean(str(value))) if isinstance(value, str) else value
    if error.facts.get("reason"):
        facts["reason"] = reason_in_words(facts, catalogue)
    key = f"errors.{error.code}"
    if catalogue.has(f"{key}.nearest"):
        near = facts["nearest"]
        facts["nearest"] = catalogue.text(f"{key}.nearest", nearest=near) if near else ""
    if catalogue.has(f"{key}.fix"):
        facts["fix"] = way_out(facts, catalogue) or catalogue.text(f"{key}.fix").format_map(facts)
    if not catalogue.has(f"{key}.what"):
        return Explained(str(error), "")
    following = "pull" if error.code == "model_missing" and _can_be_pulled(error.facts.get("name")) else "next"
    # A fact that an older or newer process did not send is shown as "?", never as a second error.
    happened = "one" if error.facts.get("count") == 1 and catalogue.has(f"{key}.one") else "what"
    what, following = (catalogue.text(f"{key}.{part}").format_map(facts).strip() for part in (happened, following))
    return Explained(what, following)


def _can_be_pulled(model: object) -> bool:
    from engine.offers import offers

    return any(offer.name == model and not offer.package for offer in offers())


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_FACT else line[: _LONGEST_FACT - 1] + "…"
