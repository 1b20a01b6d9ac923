"""The one function that turns a conversation into tokens, for serving, training, scoring and evaluation alike."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from engine.answer_form import AnswerForm, answer_form
from engine.errors import TemplateBroken
from engine.messages import PLAIN, Message, PromptOptions, ToolCall, thinking
from engine.template import NO_TOKENS, ChatTemplate
from engine.vocabulary import Vocabulary

# Unicode noncharacters: never part of a text, so one that no message holds can mark a place in the rendering.
MARKERS = "".join(map(chr, range(0xFDD0, 0xFDF0)))


@dataclass(frozen=True)
class _Rendering:
    """A conversation as text; ``mark``, n, ``mark`` stands where control text n of a message was taken out.

    ``last``: what of the text is the last message.
    """

    text: str
    mark: str
    taken: tuple[str, ...]
    last: str


@dataclass(frozen=True)
class Prompt:
    """A conversation as the model reads it, and how its answer has to be read."""

    ids: list[int]
    form: AnswerForm


def render_prompt(
    template: ChatTemplate, vocabulary: Vocabulary, messages: Sequence[Message], options: PromptOptions = PLAIN
) -> Prompt:
    """``messages``, with the tools and whatever else is in ``options``, up to the head of the answer.

    What the template writes is read with its control tokens. Inside a message or a tool, the text of a control token
    is plain text: it is taken out before rendering and tokenised as ordinary characters in its place. Give a
    system message: some templates write one of their own where there is none. Raises TemplateBroken.
    """
    rendering = _render_marked(template, vocabulary, messages, True, options)
    form = answer_form(template, vocabulary, rendering.text, with_tools=bool(options.tools))
    return Prompt(with_bos(vocabulary, _tokens(vocabulary, rendering)), form)


def render(
    template: ChatTemplate, vocabulary: Vocabulary, messages: Sequence[Message], *, add_generation_prompt: bool = True
) -> list[int]:
    """The token ids of ``messages`` alone, the head of the answer included if asked for. Raises TemplateBroken."""
    rendering = _render_marked(template, vocabulary, messages, add_generation_prompt)
    return with_bos(vocabulary, _tokens(vocabulary, rendering))


def render_pair(
    template: ChatTemplate, vocabulary: Vocabulary, messages: Sequence[Message], answer: str
) -> tuple[list[int], list[int]]:
    """The prompt and the answer as (prompt_ids, answer_ids) for training and scoring.

    ``prompt_ids`` is ``render(messages)``. ``answer_ids`` is what the model has to say, ended as the template ends
    an assistant's turn, up to and with its end token; the two together are how serving sees that turn later. Where a
    template writes an answer's turn in another way than it opens one (as those of thinking models do, which leave out
    thoughts), the prompt is the one that has the model answer at once, and the answer follows it.
    Raises TemplateBroken, also where there is no such prompt or no end token.
    """
    whole_messages = [*messages, Message("assistant", answer)]
    at_once = PromptOptions(variables=thinking(False))
    for options, must_continue in ((PLAIN, True), (at_once, True), (at_once, False)):
        head = _render_marked(template, vocabulary, messages, True, options)
        whole = _render_marked(template, vocabulary, whole_messages, False, options)
        prompt = with_bos(vocabulary, _tokens(vocabulary, head))
        if not prompt:
            # There is nothing after which the answer's first token could be worth anything.
            raise TemplateBroken(reason=NO_TOKENS)
        opens = answer_form(template, vocabulary, head.text, with_tools=False).opened is not None
        rest = _rest(vocabulary, prompt, head, whole) if must_continue else None if opens else _turn(vocabulary, whole)
        if rest is None:
            continue
        for place, token in enumerate(rest):
            if vocabulary.is_end(token):
                return prompt, rest[: place + 1]
        raise TemplateBroken(reason="it does not end an answer with an end token")
    raise TemplateBroken(reason="it does not continue a prompt with the answer to it")


def _rest(vocabulary: Vocabulary, prompt: list[int], head: _Rendering, whole: _Rendering) -> list[int] | None:
    """What follows the prompt in the whole conversation; None where it does not continue the prompt."""
    whole_ids = with_bos(vocabulary, _tokens(vocabulary, whole))
    if whole_ids[: len(prompt)] == prompt:
        return whole_ids[len(prompt) :]
    if not head.taken and whole.text.startswith(head.text):
        # A line break that opens the answer merges with the one that ends the prompt: the model says it apart.
        return _tokens(vocabulary, replace(whole, text=whole.text[len(head.text) :]))
    return None


def _turn(vocabulary: Vocabulary, whole: _Rendering) -> list[int] | None:
    """The last message of a conversation and what ends it; None where the template does not write it as it is."""
    place = whole.text.rfind(whole.last)
    return _tokens(vocabulary, replace(whole, text=whole.text[place:])) if place >= 0 and whole.last else None


def _render_marked(
    template: ChatTemplate,
    vocabulary: Vocabulary,
    messages: Sequence[Message],
    add_generation_prompt: bool,
    options: PromptOptions = PLAIN,
) -> _Rendering:
    """The conversation as text, the control texts in its messages and tools taken out."""
    forbidden = template.forbidden(vocabulary)
    texts = "\n".join(_texts([_parts(message) for message in messages] + [options.tools, options.variables]))
    if forbidden is None or not forbidden.search(texts):
        text = template.render(messages, add_generation_prompt=add_generation_prompt, options=options)
        return _Rendering(text, "", (), messages[-1].content if messages else "")
    mark = next((mark for mark in MARKERS if mark not in texts), None)
    if mark is None:
        raise TemplateBroken(reason="the text holds every Unicode noncharacter")
    taken: list[str] = []

    def take(match: re.Match[str]) -> str:
        taken.append(match.group())
        return f"{mark}{len(taken) - 1}{mark}"

    def clean(value: Any) -> Any:
        return _mapped(value, lambda text: forbidden.sub(take, text))

    marked = [_with_parts(message, clean(_parts(message))) for message in messages]
    cleaned = PromptOptions(tuple(clean(options.tools)), clean(options.variables))
    text = template.render(marked, add_generation_prompt=add_generation_prompt, options=cleaned)
    return _Rendering(text, mark, tuple(taken), marked[-1].content if marked else "")


def _parts(message: Message) -> list[Any]:
    """Everything in a message that somebody wrote."""
    calls = [[call.id, call.name, call.arguments] for call in message.tool_calls]
    return [message.content, calls, message.tool_call_id, message.name]


def _with_parts(message: Message, parts: list[Any]) -> Message:
    content, calls, tool_call_id, name = parts
    return Message(message.role, content, tuple(ToolCall(*call) for call in calls), tool_call_id, name)


def _texts(value: Any) -> list[str]:
    """All texts in a value as JSON has them."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [text for key, entry in value.items() for text in (str(key), *_texts(entry))]
    return [text for entry in value for text in _texts(entry)] if isinstance(value, list | tuple) else []


def _mapped(value: Any, change: Callable[[str], str]) -> Any:
    """``value`` with every text in it changed, the names of its entries too."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {change(str(key)): _mapped(entry, change) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_mapped(entry, change) for entry in value]
    return value


def _tokens(vocabulary: Vocabulary, rendering: _Rendering) -> list[int]:
    if not rendering.taken:
        return vocabulary.tokenize(rendering.text, special=True)
    ids: list[int] = []
    plain: dict[str, list[int]] = {}
    for place, part in enumerate(re.split(f"{rendering.mark}(\\d+){rendering.mark}", rendering.text)):
        if place % 2:
            # In two pieces: llama.cpp reads some added tokens even where it is told to read no special ones.
            control = rendering.taken[int(part)]
            if control not in plain:
                halves = control[:1], control[1:]
                plain[control] = [token for half in halves for token in vocabulary.tokenize(half, special=False)]
            ids += plain[control]
        elif part:
            ids += vocabulary.tokenize(part, special=True)
    return ids


def with_bos(vocabulary: Vocabulary, ids: list[int]) -> list[int]:
    """``ids`` begun with the token that the model expects every text to begin with, if it does."""
    bos = vocabulary.bos
    return [bos, *ids] if vocabulary.adds_bos and bos is not None and ids[:1] != [bos] else ids
