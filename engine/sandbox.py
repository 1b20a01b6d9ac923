"""Where a model's chat template runs: it reaches no Python, and can neither hang nor fill the memory.

A template comes with a model's file, so it is anybody's program. Jinja's sandbox keeps it from Python objects; what it
may spend is counted here: steps of loops and macros, and characters written or put together.
"""

from __future__ import annotations

import json
import re
import threading
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import jinja2
from jinja2 import nodes
from jinja2.exceptions import SecurityError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from engine.counting import BOUNDED, JOINED, TICK, Counting, Generation

# Of one rendering. A conversation of a thousand messages takes a template about a hundred steps a message, and copies
# of the largest request that the engine takes are a quarter of this.
MOST_STEPS = 1_000_000
MOST_CHARACTERS = 1 << 25
MOST_ENTRIES = 1 << 20
LARGEST_WIDTH = 1000  # of an indentation or a padded number
LARGEST_POWER_BITS = 4096


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


FILTERS = _words(
    "abs attr capitalize count d default dictsort e escape first float forceescape indent int items join "
    "last length list lower map max min reject rejectattr replace reverse round safe select selectattr "
    "sort string sum title tojson trim unique upper"
)
GLOBALS = _words("range dict namespace cycler joiner")
TEXT_METHODS = _words(
    "capitalize casefold count endswith find format index isalnum isalpha isdecimal isdigit islower "
    "isnumeric isspace istitle isupper join lower lstrip partition removeprefix removesuffix replace "
    "rfind rindex rpartition rsplit rstrip split splitlines startswith strip swapcase title upper"
)
# Filters whose work is in proportion to all that is inside what they are given.
THOROUGH = _words("dictsort e escape forceescape indent join max min replace safe sort string sum tojson unique")
# A width of four digits, or one that is an argument itself.
_WIDE_FORMAT = re.compile(r"\d{4}|\{[^{}]*\{|%[^a-zA-Z%]*\*")


@dataclass
class _Budget:
    """What one rendering may still spend."""

    steps: int = MOST_STEPS
    characters: int = MOST_CHARACTERS


class TemplateSandbox(ImmutableSandboxedEnvironment):
    """A Jinja environment with what templates expect of transformers: its options, ``tojson``, ``{% generation %}``.

    May render in several threads. A template that reaches too far or spends too much ends in SecurityError.
    """

    intercepted_binops = frozenset({"*", "**", "+", "%"})

    def __init__(self) -> None:
        # Prompts are plain text for a model, not a page for a browser: nothing is escaped.
        super().__init__(
            trim_blocks=True,
            lstrip_blocks=True,
            autoescape=False,
            extensions=["jinja2.ext.loopcontrols", Generation],
            finalize=self._emitted,
        )
        self._running = threading.local()
        self.globals = {name: value for name, value in self.globals.items() if name in GLOBALS}
        self.globals["raise_exception"] = _raise
        self.filters["tojson"] = _to_json
        self.filters = {name: self._watched(name, self.filters[name]) for name in FILTERS}
        self.filters |= {TICK: self._tick, JOINED: self._joined, BOUNDED: self._bounded}

    def render(self, template: jinja2.Template, variables: Mapping[str, Any]) -> str:
        """What ``template`` writes. Raises whatever it does."""
        self._running.budget = _Budget()
        try:
            return template.render(variables)
        finally:
            self._running.budget = None

    @jinja2.pass_context
    def _tick(self, _context: Any, steps: int, written: int) -> None:
        """Count a round of a loop or a call of a macro, which itself writes ``written`` characters."""
        budget = self._running.budget
        budget.steps -= abs(steps)
        budget.characters -= abs(written)
        if budget.steps < 0:
            raise SecurityError("it runs too long")
        if budget.characters < 0:
            raise SecurityError("it writes too much")

    def _joined(self, parts: list[Any]) -> str:
        """What ``~`` makes."""
        text = "".join(str(self._bounded(part)) for part in parts)
        self._spend(len(text))
        return text

    def _bounded(self, value: Any) -> Any:
        """``value``, if it is not larger inside than it looks: a list that holds another one twice, and so on."""
        if isinstance(value, list | tuple | dict):
            if self._budget.steps < 0:
                raise SecurityError("it runs too long")
            waiting, entries = [value], 0
            while waiting:
                found = waiting.pop()
                inside = [*found, *found.values()] if isinstance(found, dict) else found
                entries += len(inside) + 1
                if entries > MOST_ENTRIES:
                    raise SecurityError("it builds too large a list")
                self._budget.steps -= len(inside)
                waiting += [entry for entry in inside if isinstance(entry, list | tuple | dict)]
        return value

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """An operation that may make much out of little."""
        if operator == "**" or (operator == "*" and isinstance(left, int) and isinstance(right, int)):
            _check_numbers(operator, left, right)
        elif operator == "*":
            times = right if isinstance(right, int) else left
            self._check_length(left if times is right else right, times)
        elif operator == "+" and isinstance(left, str | list | tuple):
            self._check_length(left, 1, right)
        elif operator == "%" and isinstance(left, str):
            if _WIDE_FORMAT.search(left):
                raise SecurityError("it asks for too wide a text")
            self._bounded(right)
        result = super().call_binop(context, operator, left, right)
        if operator == "%" and isinstance(result, str):
            self._spend(len(result))
        return result

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """Methods of a text that cannot grow it beyond what it is given, and those of lists and tables."""
        allowed = attr in TEXT_METHODS if isinstance(obj, str) else not isinstance(obj, int | float | bytes)
        return allowed and super().is_safe_attribute(obj, attr, value)

    def call(self, context: Any, callee: Any, /, *arguments: Any, **named: Any) -> Any:
        """A call in a template."""
        text = getattr(callee, "__self__", None)
        if isinstance(text, str):
            name = callee.__name__
            if name == "replace":
                self._check_replacement(text, *arguments)
            elif name == "join":
                self._bounded(arguments[0])
                self._check_length(text, len(arguments[0]))
        result = super().call(context, callee, *arguments, **named)
        if isinstance(text, str) and isinstance(result, str):
            self._spend(len(result))
        return result

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        """``format`` of a text, or None where ``value`` is not that."""
        wrapped = super().wrap_str_format(value)
        if wrapped is None:
            return None
        if _WIDE_FORMAT.search(value.__self__):
            raise SecurityError("it asks for too wide a text")

        def counted(*arguments: Any, **named: Any) -> str:
            self._bounded([*arguments, *named.values()])
            text = wrapped(*arguments, **named)
            self._spend(len(text))
            return text

        return counted

    def _generate(self, source: nodes.Template, *arguments: Any, **named: Any) -> str:
        return super()._generate(Counting(self).visit(source), *arguments, **named)

    @property
    def _budget(self) -> _Budget:
        # None while a template is compiled: what it computes then is in proportion to its own length.
        return getattr(self._running, "budget", None) or _Budget()

    def _emitted(self, value: Any) -> Any:
        """Count what is written to the page."""
        if isinstance(value, str):
            self._spend(len(value))
        else:
            self._bounded(value)
        return value

    def _spend(self, characters: int) -> None:
        budget = self._budget
        budget.characters -= characters
        if budget.characters < 0:
            raise SecurityError("it writes too much")

    def _check_length(self, value: Any, times: int, other: Any = ()) -> None:
        more = len(other) if isinstance(other, str | list | tuple) else 0
        length = len(value) * max(times, 0) + more if isinstance(value, str | list | tuple) else 0
        if isinstance(value, str):
            self._spend(length)
        elif length > MOST_ENTRIES:
            raise SecurityError("it builds too large a list")

    def _check_replacement(self, text: str, old: Any = "", new: Any = "", *_: Any) -> None:
        self._spend(len(text) + text.count(str(old)) * len(str(new)))

    def _watched(self, name: str, made: Callable[..., Any]) -> Callable[..., Any]:
        """A filter that may be given no more than there can honestly be."""
        if name not in THOROUGH:
            return made
        shift = bool(getattr(made, "jinja_pass_arg", None))

        def watched(*arguments: Any, **named: Any) -> Any:
            value, *others = arguments[1:] if shift else arguments
            self._bounded(value)
            for other in (*others, *named.values()):
                if isinstance(other, int) and other > LARGEST_WIDTH:
                    raise SecurityError("it asks for too wide a text")
            if name == "replace":
                self._check_replacement(str(value), *others)
            elif name == "join" and isinstance(value, list | tuple):
                self._check_length(str(others[0]) if others else "", len(value))
            result = made(*arguments, **named)
            if isinstance(result, str):
                self._spend(len(result))
            return result

        if shift:
            watched.jinja_pass_arg = made.jinja_pass_arg  # type: ignore[attr-defined]
        return watched


def _check_numbers(operator: str, left: Any, right: Any) -> None:
    if isinstance(left, int) and isinstance(right, int):
        times = abs(right) if operator == "**" else 1
        if left.bit_length() * times + right.bit_length() > LARGEST_POWER_BITS:
            raise SecurityError("it computes with too large a number")


def _raise(message: str) -> None:
    raise jinja2.TemplateError(message)


def _to_json(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """JSON as transformers writes it for templates: nothing escaped for HTML."""
    return json.dumps(
        value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys, default=_listed
    )


def _listed(value: Any) -> list[Any]:
    """What filters like ``map`` give is worked out one by one, which JSON knows nothing of."""
    if not isinstance(value, types.GeneratorType):
        raise TypeError(f"{type(value).__name__} is no JSON")
    return list(value)
