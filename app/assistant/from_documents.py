"""An answer that a document of the family gives, word for word what it says and with where it says so.

Only to a question that names somebody in full and asks for what is told of them: what a document says is never put
before the model, so that it can neither be misread nor give orders.
"""

from __future__ import annotations

import re
from typing import Final

from app.assistant.turn_parts import TurnParts
from app.graph_words import one_line, statement_text
from memory.graph.look import Evidence
from tools.registry import Source, ToolResult

# What nothing but a question for that very thing reaches.
_SURE: Final = 1.0
_ASKS: Final = re.compile(
    r"(?:¿|^\W*(?:d[oó]nde|qui[eé]n(?:es)?|cu[aá]l(?:es)?|qu[eé]|cu[aá]ndo|where|who|whose|what|when|which)\b)",
    re.IGNORECASE,
)
_LONGEST: Final = 160


def from_documents(parts: TurnParts, question: str) -> ToolResult | None:
    """What the member's and the household's documents answer; None where the question is none for them."""
    if not _ASKS.search(question) or len(question) > _LONGEST:
        return None
    found = parts.memory.papers.recall.about(question, parts.settings.memory.documents.recalled)
    sure = [entry.statement for entry in found if entry.score >= _SURE and entry.statement.evidence]
    if not sure:
        return None
    sources = tuple(_source(number, each.evidence[0], parts) for number, each in enumerate(sure, 1))
    said = " ".join(f"{statement_text(each, parts.catalogue)} [{number}]." for number, each in enumerate(sure, 1))
    return ToolResult(parts.catalogue.text("assistant.documents_say", said=said), sources=sources)


def _source(number: int, evidence: Evidence, parts: TurnParts) -> Source:
    where = "graph.source.at_line" if evidence.page is None else "graph.source.at_page"
    told = parts.catalogue.text(where, page=evidence.page, line=evidence.line, words=one_line(evidence.words))
    return Source(number, one_line(evidence.name), told)
