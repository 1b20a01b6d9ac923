"""The everyday texts that ship with the trainer: prompts, pieces of prose, two pages, and what is asked of new weights.

``known``: questions of general knowledge with their answers. ``forms``: requests for an answer of a certain form.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from trainer.errors import TrainingDataBroken
from trainer.forms import FormPrompt

DATA = Path(__file__).parent / "data"
PAGES = ("page_en", "page_es")
Line = TypeVar("Line")


@dataclass(frozen=True)
class KnownQuestion:
    """A question that most models know the answer to."""

    prompt: str
    answer: str


def read_prompts(name: str) -> list[str]:
    """The prompts of ``data/<name>.jsonl``. Raises TrainingDataBroken, which names the line."""
    return _read(name, "prompt")


def read_prose() -> list[str]:
    """The pieces of plain prose, Spanish and English in turn. Raises TrainingDataBroken."""
    both = zip(_read("prose_es", "text"), _read("prose_en", "text"), strict=True)
    return [text for pair in both for text in pair]


def everyday_texts() -> list[str]:
    """What a family's talk is like that no lesson is about, in either language. Raises TrainingDataBroken.

    Of what is replayed the prompts, which are English nearly all, and the Spanish prose: a word of an English story is
    no less telling for it where the family asks for it.
    """
    return [*read_prompts("replay"), *_read("prose_es", "text")]


def read_known() -> list[KnownQuestion]:
    """The known questions. Raises TrainingDataBroken."""
    return _lines("known", lambda line: KnownQuestion(**line))


def read_forms() -> list[FormPrompt]:
    """The requests for a form, so that the first ones are of every kind. Raises TrainingDataBroken."""
    return _lines("forms", lambda line: FormPrompt(**line))


def _read(name: str, field: str) -> list[str]:
    return _lines(name, lambda line: str(line[field]))


def _lines(name: str, read: Callable[[dict[str, Any]], Line]) -> list[Line]:
    path = DATA / f"{name}.jsonl"
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            found.append(read(json.loads(line)))
        except (ValueError, KeyError, TypeError) as error:
            raise TrainingDataBroken(path=str(path), line=number, reason=str(error)) from error
    return found


def page(name: str) -> str:
    """A fixed page of prose, ``data/<name>.txt``."""
    return (DATA / f"{name}.txt").read_text(encoding="utf-8")
