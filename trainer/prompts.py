"""The everyday prompts and fixed pages that ship with the trainer, and the base's own answers to them, cached."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from engine.messages import Message
from engine.prompt import render
from engine.scoring import LocalModel
from engine.vocabulary import Vocabulary
from trainer.errors import TrainingDataBroken
from trainer.examples import Tokeniser
from trainer.packing import Item
from trainer.run_files import read_json, write_json

DATA = Path(__file__).parent / "data"
PAGES = ("page_en", "page_es")


def read_prompts(name: str) -> list[str]:
    """The prompts of ``data/<name>.jsonl``. Raises TrainingDataBroken, which names the line."""
    return _read(name, "prompt")


def asked_alone(prompts: Sequence[str]) -> list[tuple[Message, ...]]:
    """Each prompt as a conversation of its own."""
    return [(Message("user", prompt),) for prompt in prompts]


def prose(vocabulary: Vocabulary, number: int, most_tokens: int) -> list[Item]:
    """The first ``number`` pieces of plain prose: each a first token, and up to ``most_tokens`` that follow it.

    Outside of any conversation: what a model holds of a language that it hardly speaks is soonest lost.
    Raises TrainingDataBroken.
    """
    pieces = (vocabulary.tokenize(text, special=False) for text in _read("prose", "text")[:number])
    return [Item(tuple(tokens[:1]), tuple(tokens[1 : 1 + most_tokens])) for tokens in pieces]


def everyday_texts() -> list[str]:
    """The prompts and the prose that are replayed: what a family's talk is like that no lesson is about.

    Raises TrainingDataBroken.
    """
    return [*read_prompts("replay"), *_read("prose", "text")]


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


def base_answers(
    served: LocalModel,
    tokeniser: Tokeniser,
    conversations: Sequence[Sequence[Message]],
    most_tokens: int,
    cache: Path,
    ground: str,
) -> list[Item]:
    """The greedy answer of what a run trains over to each conversation, from ``cache`` where it was asked before.

    ``served`` must have nothing over that ``ground`` (``Inputs.ground``). Prompts with an empty answer are left out.
    """
    rendered = [
        render(tokeniser.template, tokeniser.vocabulary, tokeniser.under_system(each)) for each in conversations
    ]
    key = hashlib.sha256(json.dumps([ground, rendered, most_tokens]).encode()).hexdigest()
    path = cache / f"answers-{key[:32]}.json"
    if path.is_file():
        answers: list[list[int]] = read_json(path)
    else:
        answers = served.greedy(rendered, most_tokens)
        write_json(path, answers)
    return [Item(tuple(p), tuple(a)) for p, a in zip(rendered, answers, strict=True) if a]
