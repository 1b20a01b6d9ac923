"""The everyday texts that ship with the trainer: prompts, pieces of prose and two pages."""

from __future__ import annotations

import json
from pathlib import Path

from trainer.errors import TrainingDataBroken

DATA = Path(__file__).parent / "data"
PAGES = ("page_en", "page_es")


def read_prompts(name: str) -> list[str]:
    """The prompts of ``data/<name>.jsonl``. Raises TrainingDataBroken, which names the line."""
    return _read(name, "prompt")


def read_prose() -> list[str]:
    """The pieces of plain prose. Raises TrainingDataBroken."""
    return _read("prose", "text")


def everyday_texts() -> list[str]:
    """The prompts and the prose that are replayed: what a family's talk is like that no lesson is about.

    Raises TrainingDataBroken.
    """
    return [*read_prompts("replay"), *read_prose()]


def _read(name: str, field: str) -> list[str]:
    path = DATA / f"{name}.jsonl"
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            found.append(str(json.loads(line)[field]))
        except (ValueError, KeyError, TypeError) as error:
            raise TrainingDataBroken(path=str(path), line=number, reason=str(error)) from error
    return found


def page(name: str) -> str:
    """A fixed page of prose, ``data/<name>.txt``."""
    return (DATA / f"{name}.txt").read_text(encoding="utf-8")
