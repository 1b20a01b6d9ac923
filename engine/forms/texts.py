"""The fixed texts on which it is measured what a form loses: prose and answers in Spanish and English."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

import yaml

from engine.messages import Message
from engine.prompt import render_pair
from engine.template import ChatTemplate
from engine.vocabulary import Vocabulary


@dataclass(frozen=True)
class Piece:
    """Tokens that are given and tokens that are measured."""

    given: list[int]
    measured: list[int]


def pieces(vocabulary: Vocabulary, template: ChatTemplate, system_prompt: str, longest: int) -> Sequence[Piece]:
    """Every text as a model reads it, in their order; none measures more than ``longest`` tokens.

    Answers go through the one prompt function. Prose is read from its first token on, after a BOS where the model
    wants one. Raises TemplateBroken.
    """
    texts = yaml.safe_load(files("engine.forms").joinpath("texts.yaml").read_text(encoding="utf-8"))
    found = []
    for text in texts["prose"]:
        tokens = vocabulary.tokenize(text, special=False)
        bos = [vocabulary.bos] if vocabulary.adds_bos and vocabulary.bos is not None else []
        given = bos or tokens[:1]
        found.append(Piece(given, tokens[0 if bos else 1 :][:longest]))
    for entry in texts["answers"]:
        messages = [Message("system", system_prompt), Message("user", entry["question"])]
        given, measured = render_pair(template, vocabulary, messages, entry["answer"])
        found.append(Piece(given, measured[:longest]))
    return found
