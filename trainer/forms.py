"""Whether an answer has the form that was asked for: JSON, a list of so many, one word, the language of the question.

Checked by rule, as in IFEval (Zhou et al., arXiv 2311.07911), so that no judge is needed.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Literal

from trainer.wordings.language import language_of

Kind = Literal["json", "list", "word", "es", "en"]

# A code block around the whole of an answer, as models put around JSON.
FENCED = re.compile(r"```(?:json)?\s*\n(.*?)\n?```", re.DOTALL)
LISTED = re.compile(r"\s*(?:\d+[.)]|[-*•])\s+\S")


@dataclass(frozen=True)
class FormPrompt:
    """A request for an answer of one form; ``number``: of a list's entries, 0 for the other forms."""

    prompt: str
    form: Kind
    number: int


def fulfils(answer: str, asked: FormPrompt) -> bool:
    """Whether ``answer`` has the form that ``asked`` wants; an empty one has none."""
    text = answer.strip()
    if not text:
        return False
    match asked.form:
        case "json":
            return _is_json(text)
        case "list":
            return sum(bool(LISTED.match(line)) for line in text.splitlines()) == asked.number
        case "word":
            return len(re.findall(r"[\w'’-]+", text)) == 1
        case "es" | "en":
            return language_of(text) == asked.form


def _is_json(text: str) -> bool:
    fenced = FENCED.fullmatch(text)
    try:
        return isinstance(json.loads(fenced.group(1) if fenced else text), dict | list)
    except ValueError:
        return False
