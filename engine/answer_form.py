"""How a model's answer to one prompt has to be read: which tags it thinks between, and which tokens spell tags."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.callforms import CALL_TAGS
from engine.reasoning import KNOWN_TAGS, Tags
from engine.template import ChatTemplate
from engine.vocabulary import Vocabulary


@dataclass(frozen=True)
class AnswerForm:
    """``tags``: what this model thinks between. ``opened``: those that the prompt itself opened already.

    ``spelled``: control tokens that are part of a tag, with its bytes; all other control tokens write nothing.
    """

    tags: tuple[Tags, ...] = ()
    opened: Tags | None = None
    spelled: Mapping[int, bytes] = field(default_factory=dict)


def answer_form(template: ChatTemplate, vocabulary: Vocabulary, prompt: str, *, with_tools: bool) -> AnswerForm:
    """The form of the answer to ``prompt``, a conversation as the template renders it."""
    known_tokens = vocabulary.steering_texts
    tags = tuple(known for known in KNOWN_TAGS if known in template.thinking_tags or known.sign in known_tokens)
    ending = prompt.rstrip()
    opened = next((known for known in tags if ending.endswith(known.opening.rstrip())), None)
    wanted = {text for known in tags for text in known.control_texts} | set(CALL_TAGS if with_tools else ())
    spelled = {vocabulary.control_token(text): text.encode() for text in wanted if text in vocabulary.control_texts}
    return AnswerForm(tags, opened, spelled)
