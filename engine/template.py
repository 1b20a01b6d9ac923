"""A model's own chat template: conversations, tools and what else it is told become the text that the model reads."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

from engine.errors import TemplateBroken
from engine.messages import PLAIN, Message, PromptOptions
from engine.reasoning import KNOWN_TAGS, Tags
from engine.sandbox import TemplateSandbox
from engine.shapes import TOLD, TOLD_TAGS, Dicts, Shape, find_shape, shaped, without_system
from engine.vocabulary import Vocabulary

LONGEST_REASON = 200
NO_TOKENS = "it makes no tokens of this conversation"
LONGEST_SOURCE = (
    1 << 17
)  # the longest that llama.cpp ships has 17,000 characters; compiling takes up to 7 ms a thousand


class ChatTemplate:
    """A Jinja template from a GGUF file. ``now`` tells templates that write the date what day it is.

    Raises TemplateBroken when the file has no template or one that does not compile.
    """

    def __init__(self, source: str | None, *, now: Callable[[], datetime], bos: str = "", eos: str = "") -> None:
        if not source:
            raise TemplateBroken(reason="the model's file has no chat template")
        self._source = source
        self._texts = {"bos_token": bos, "eos_token": eos}
        self._forbidden: WeakKeyDictionary[Vocabulary, re.Pattern[str] | None] = WeakKeyDictionary()
        self._sandbox = TemplateSandbox()
        self._sandbox.globals["strftime_now"] = lambda form: now().strftime(form)
        self._now = now
        if len(source) > LONGEST_SOURCE:
            raise TemplateBroken(reason=f"it is longer than {LONGEST_SOURCE} characters")
        try:
            self._template = self._sandbox.from_string(source)
        except Exception as error:
            # Not only Jinja refuses to compile: Python has its own limits, of nested blocks for one.
            raise TemplateBroken(reason=_reason(error)) from error

    @classmethod
    def of(cls, source: str | None, vocabulary: Vocabulary, now: Callable[[], datetime]) -> ChatTemplate:
        """The template ``source`` of the model that ``vocabulary`` belongs to."""
        bos, eos = vocabulary.bos, vocabulary.eos
        return cls(
            source,
            bos=vocabulary.token_text(bos) if bos is not None else "",
            eos=vocabulary.token_text(eos) if eos is not None else "",
            now=now,
        )

    def render(
        self, messages: Sequence[Message], *, add_generation_prompt: bool, options: PromptOptions = PLAIN
    ) -> str:
        """The conversation as one text. Raises TemplateBroken, whatever the template does.

        Where the template refuses tools' messages or a system message, they are told in the others' words.
        """
        special = bool(options.tools) or any(each.role == "tool" or each.tool_calls for each in messages)
        shapes = [self.shape, TOLD] if special else [TOLD]
        refusals: list[TemplateBroken] = []
        for dicts, variables in self._attempts(messages, options, shapes):
            try:
                return self._run(dicts, variables, add_generation_prompt)
            except TemplateBroken as error:
                refusals.append(error)
        raise refusals[0]

    @cached_property
    def shape(self) -> Shape:
        """What the template takes of tools, found by trying."""
        return find_shape(lambda dicts, tools: self._run(dicts, {"tools": tools}, add_generation_prompt=True))

    @cached_property
    def thinking_tags(self) -> tuple[Tags, ...]:
        """Those that the template says its model thinks between."""
        return tuple(known for known in KNOWN_TAGS if self.writes(known.sign))

    def writes(self, text: str) -> bool:
        """Whether ``text`` stands in the template."""
        return text in self._source

    def forbidden(self, vocabulary: Vocabulary) -> re.Pattern[str] | None:
        """What must not be read as tokens in a message: control tokens, and added tokens that the template writes.

        Other added tokens (runs of blanks, HTML tags) are ordinary text that the model knows as one token.
        """
        if vocabulary not in self._forbidden:
            added = (text for text in vocabulary.added_texts if self.writes(text) or text in TOLD_TAGS)
            # Not always tokens, but templates look for them in what was said, and cut there.
            thinking = (text for tags in self.thinking_tags for text in (tags.opening, tags.closing))
            texts = sorted({*vocabulary.control_texts, *added, *thinking}, key=lambda text: (-len(text), text))
            self._forbidden[vocabulary] = re.compile("|".join(map(re.escape, texts))) if texts else None
        return self._forbidden[vocabulary]

    def _attempts(
        self, messages: Sequence[Message], options: PromptOptions, shapes: Sequence[Shape]
    ) -> Iterator[tuple[Dicts, dict[str, Any]]]:
        """What to try, the most faithful first: messages and variables."""
        for shape in shapes:
            dicts = shaped(messages, options.tools, shape)
            # Most templates ask whether there are any; some walk through them in any case, which is no harm to
            # those that are not there at all.
            offers = [{"tools": list(options.tools)}] if options.tools and shape.tools else [{"tools": None}, {}]
            for offer in offers:
                yield dicts, {**options.variables, **offer}
                if any(each["role"] == "system" for each in dicts):
                    yield without_system(dicts), {**options.variables, **offer}

    def _run(self, messages: Dicts, variables: Mapping[str, Any], add_generation_prompt: bool) -> str:
        today, tools = self._now(), variables.get("tools") or []
        given = {
            # What single families of templates call the date and the tools.
            "date_string": today.strftime("%d %b %Y"),
            "datetime": today.strftime("%d %b %Y"),
            "functions": json.dumps(tools, ensure_ascii=False),
            **variables,
            "messages": messages,
            "documents": None,
            "add_generation_prompt": add_generation_prompt,
            **self._texts,
        }
        try:
            return self._sandbox.render(self._template, given)
        except Exception as error:
            # A template is somebody else's program: it may end in any way that Python knows.
            raise TemplateBroken(reason=_reason(error)) from error


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:LONGEST_REASON]
