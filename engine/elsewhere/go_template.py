"""A model's chat template in the language of Ollama's, where that can say the same.

Ollama renders conversations by a Go template (https://pkg.go.dev/text/template). Most models' templates put each
message between two texts that depend on its role alone; those texts are found by rendering conversations of marks with
the model's own template. A template that does more is left to Ollama, which knows many by their text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path

from engine.elsewhere.model_facts import read_facts
from engine.messages import Message

SYSTEM, USER, ASSISTANT, AGAIN = "QZsysQZ", "QZaskQZ", "QZansQZ", "QZmoreQZ"
DAYS = (datetime(2001, 2, 3), datetime(2014, 12, 25))
Render = Callable[[Sequence[Message], bool], str]


@dataclass(frozen=True)
class Turns:
    """What stands before and after a message of each role, and what an answer begins with."""

    system: tuple[str, str]
    user: tuple[str, str]
    assistant: tuple[str, str]
    begin: str

    def go(self) -> str:
        """The Go template."""
        parts = [
            f'{{{{ {word} eq .Role "{role}" }}}}{before}{{{{ .Content }}}}{after}'
            for word, role, (before, after) in (
                ("if", "system", self.system),
                ("else if", "user", self.user),
                ("else if", "assistant", self.assistant),
            )
        ]
        return "{{- range .Messages }}" + "".join(parts) + "{{ end }}{{ end }}" + self.begin

    @property
    def stop(self) -> str:
        """What ends an answer, without the blanks around it."""
        return self.assistant[1].strip()

    def render(self, messages: Sequence[Message]) -> str:
        """What the Go template gives."""
        texts = {"system": self.system, "user": self.user, "assistant": self.assistant}
        said = [texts[message.role][0] + message.content + texts[message.role][1] for message in messages]
        return "".join(said) + self.begin


def turns_of(model: Path) -> Turns | None:
    """The turns of a model's own template, or None where it is none of this kind. Raises ModelBroken."""
    facts = read_facts(model)
    if facts.template is None:
        return None
    texts = {"bos_token": facts.bos, "eos_token": facts.eos}
    found, other = (find_turns(partial(_rendered, facts.template, texts, day)) for day in DAYS)
    if found is None or found != other:
        # A template that writes the date would have today's for ever.
        return None
    if facts.bos and facts.adds_bos:
        # Ollama puts it there itself.
        return replace(found, system=(found.system[0].removeprefix(facts.bos), found.system[1]))
    return found


def _rendered(source: str, texts: dict[str, str], day: datetime, messages: Sequence[Message], begin: bool) -> str:
    """Raises ValueError, whatever the template does."""
    from engine.sandbox import TemplateSandbox

    sandbox = TemplateSandbox()
    sandbox.globals["strftime_now"] = day.strftime
    said = [{"role": message.role, "content": message.content} for message in messages]
    try:
        template = sandbox.from_string(source)
        return sandbox.render(template, {"messages": said, "add_generation_prompt": begin, **texts})
    except Exception as error:
        # A template is somebody else's program: it may end in any way that Python knows.
        raise ValueError(type(error).__name__) from error


def find_turns(render: Render) -> Turns | None:
    """The turns of whatever ``render`` does, or None where a conversation of turns would come out otherwise."""
    system, user = Message("system", SYSTEM), Message("user", USER)
    assistant, again = Message("assistant", ASSISTANT), Message("user", AGAIN)
    try:
        asked, opened = render([system, user], False), render([system, user], True)
        answered = render([system, user, assistant], False)
        followed = render([system, user, assistant, again], True)
        # A conversation of another length, which the turns have to give as well.
        longer = [system, user, assistant, again, assistant, user]
        expected = render(longer, True)
        first, to_user, user_end = _between(asked, SYSTEM, USER)
        _, _, to_assistant, assistant_end = _between(answered, SYSTEM, USER, ASSISTANT)
        *_, to_again, _ = _between(followed, SYSTEM, USER, ASSISTANT, AGAIN)
        begin = _without(opened, asked)
        user_start = _without(to_again, assistant_end)
        turns = Turns(
            (first, _before(to_user, user_start)),
            (user_start, user_end),
            (_without(to_assistant, user_end), assistant_end),
            begin,
        )
    except ValueError:
        return None
    if turns.render([system, user]) != opened or turns.render(longer) != expected:
        return None
    texts = (*turns.system, *turns.user, *turns.assistant, begin)
    return None if any(mark in text for text in texts for mark in ("{{", "}}")) else turns


def _between(text: str, *marks: str) -> list[str]:
    """The texts around ``marks``, each of which must be there once, in this order. Raises ValueError."""
    parts = []
    for mark in marks:
        before, found, text = text.partition(mark)
        if not found or mark in text:
            raise ValueError(mark)
        parts.append(before)
    return [*parts, text]


def _without(text: str, beginning: str) -> str:
    """Raises ValueError where ``text`` does not begin so."""
    if not text.startswith(beginning):
        raise ValueError(beginning)
    return text.removeprefix(beginning)


def _before(text: str, end: str) -> str:
    """Raises ValueError where ``text`` does not end so."""
    if not text.endswith(end):
        raise ValueError(end)
    return text.removesuffix(end)
