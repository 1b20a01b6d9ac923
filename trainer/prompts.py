"""The base's own answers to prompts, cached, and the pieces of prose that are replayed beside them."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from engine.errors import TemplateBroken
from engine.messages import Message
from engine.prompt import render
from engine.scoring import LocalModel
from engine.vocabulary import Vocabulary
from trainer.everyday import read_prose
from trainer.examples import Tokeniser
from trainer.packing import Item
from trainer.run_files import read_json, write_json


def asked_alone(prompts: Sequence[str]) -> list[tuple[Message, ...]]:
    """Each prompt as a conversation of its own."""
    return [(Message("user", prompt),) for prompt in prompts]


def asked_prompt(tokeniser: Tokeniser, text: str) -> tuple[int, ...]:
    """The tokens of a conversation that is this question alone, as the assistant would send it."""
    (messages,) = asked_alone([text])
    return tuple(render(tokeniser.template, tokeniser.vocabulary, tokeniser.under_system(messages)))


def prose(vocabulary: Vocabulary, number: int, most_tokens: int) -> list[Item]:
    """The first ``number`` pieces of plain prose: each a first token, and up to ``most_tokens`` that follow it.

    Outside of any conversation: what a model holds of a language that it hardly speaks is soonest lost.
    Raises TrainingDataBroken.
    """
    pieces = (vocabulary.tokenize(text, special=False) for text in read_prose()[:number])
    return [Item(tuple(tokens[:1]), tuple(tokens[1 : 1 + most_tokens])) for tokens in pieces]


def base_replies(
    served: LocalModel,
    tokeniser: Tokeniser,
    most_tokens: int,
    longest_prompt: int,
    cache: Path,
    ground: str,
    conversations: Sequence[Sequence[Message]],
) -> list[str]:
    """What ``base_answers`` has of each conversation, as text.

    Empty for one that the chat template cannot write, or whose prompt has more than ``longest_prompt`` tokens.
    """
    prompts: dict[int, tuple[int, ...]] = {}
    for place, messages in enumerate(conversations):
        with contextlib.suppress(TemplateBroken):
            prompt = tuple(render(tokeniser.template, tokeniser.vocabulary, tokeniser.under_system(messages)))
            if len(prompt) <= longest_prompt:
                prompts[place] = prompt
    if not prompts:
        return [""] * len(conversations)
    items = base_answers(served, tokeniser, [conversations[place] for place in prompts], most_tokens, cache, ground)
    said = {item.prompt: served.text(item.answer) for item in items}
    return [said.get(prompts[place], "") if place in prompts else "" for place in range(len(conversations))]


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
