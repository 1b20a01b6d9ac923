"""A model's own chat template, run in a sandbox with the functions that templates expect."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import cached_property
from typing import Any

import jinja2
from jinja2.sandbox import ImmutableSandboxedEnvironment

from engine.errors import TemplateBroken
from engine.messages import Message
from engine.vocabulary import Vocabulary

LONGEST_REASON = 200


class ChatTemplate:
    """A Jinja template from a GGUF file. ``now`` tells templates that write the date what day it is.

    Raises TemplateBroken when the file has no template or one that does not compile.
    """

    def __init__(
        self, source: str | None, *, bos: str = "", eos: str = "", now: Callable[[], datetime] = datetime.now
    ) -> None:
        if not source:
            raise TemplateBroken(reason="the model's file has no chat template")
        self._source = source
        self._texts = {"bos_token": bos, "eos_token": eos}
        self._now = now
        self._forbidden: dict[int, re.Pattern[str] | None] = {}
        try:
            self._template = self._environment.from_string(source)
        except (jinja2.TemplateError, RecursionError) as error:
            raise TemplateBroken(reason=_reason(error)) from error

    @classmethod
    def of(cls, source: str | None, vocabulary: Vocabulary, now: Callable[[], datetime] = datetime.now) -> ChatTemplate:
        """The template ``source`` of the model that ``vocabulary`` belongs to."""
        bos, eos = vocabulary.bos, vocabulary.eos
        return cls(
            source,
            bos=vocabulary.token_text(bos) if bos is not None else "",
            eos=vocabulary.token_text(eos) if eos is not None else "",
            now=now,
        )

    def render(self, messages: Sequence[Message], *, add_generation_prompt: bool) -> str:
        """The conversation as one text. Raises TemplateBroken, whatever the template does."""
        try:
            return self._template.render(
                messages=[{"role": message.role, "content": message.content} for message in messages],
                add_generation_prompt=add_generation_prompt,
                **self._texts,
            )
        except Exception as error:
            # A template is somebody else's program: it may end in any way that Python knows.
            raise TemplateBroken(reason=_reason(error)) from error

    def forbidden(self, vocabulary: Vocabulary) -> re.Pattern[str] | None:
        """What must not be read as tokens in a message: control tokens, and added tokens that the template writes.

        Other added tokens (runs of blanks, HTML tags) are ordinary text that the model knows as one token.
        """
        key = id(vocabulary)
        if key not in self._forbidden:
            texts = [*vocabulary.control_texts, *(text for text in vocabulary.added_texts if text in self._source)]
            texts.sort(key=len, reverse=True)
            self._forbidden[key] = re.compile("|".join(map(re.escape, texts))) if texts else None
        return self._forbidden[key]

    @cached_property
    def _environment(self) -> ImmutableSandboxedEnvironment:
        environment = ImmutableSandboxedEnvironment(
            trim_blocks=True,
            lstrip_blocks=True,
            # Prompts are plain text for a model, not a page for a browser.
            autoescape=False,
            extensions=["jinja2.ext.loopcontrols"],
        )
        environment.filters["tojson"] = _to_json
        environment.globals["raise_exception"] = _raise
        environment.globals["strftime_now"] = lambda form: self._now().strftime(form)
        return environment


def _raise(message: str) -> None:
    raise jinja2.TemplateError(message)


def _to_json(value: Any, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:LONGEST_REASON]
