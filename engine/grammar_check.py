"""Checking a grammar before native code follows it: what passes is what llama.cpp honours to the letter.

Its own parser prints what it refuses, takes a long repetition for one without end, follows some rules that call
themselves until the memory is full, and aborts the process on others.
"""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterator, Mapping

from engine.errors import RequestWrong
from engine.gbnf import Characters, Choices, GrammarRefused, Group, Nothing, Part, Reference, Repeat, read_gbnf

ROOT = "root"
LONGEST_GRAMMAR = 1 << 18


def check_grammar(text: str, field: str, most_beginnings: int) -> None:
    """Raise RequestWrong, naming ``field`` and the reason, unless the grammar ``text`` can be honoured.

    ``most_beginnings``: in how many ways one rule may begin, of which llama.cpp keeps each at every character.
    """
    try:
        _check(text, most_beginnings)
    except GrammarRefused as error:
        raise RequestWrong(field=field, reason=str(error)) from None


def _check(text: str, most_beginnings: int) -> None:
    if len(text) > LONGEST_GRAMMAR:
        raise GrammarRefused(f"longer than {LONGEST_GRAMMAR} characters")
    if "\0" in text:
        raise GrammarRefused("it holds a NUL character")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise GrammarRefused("it holds half of a surrogate pair") from None
    rules = read_gbnf(text)
    if ROOT not in rules:
        raise GrammarRefused(f"it has no rule “{ROOT}”")
    for name, choices in rules.items():
        for part in _parts(choices):
            if isinstance(part, Reference) and part.name not in rules:
                raise GrammarRefused(f"rule “{name}” uses “{part.name}”, which is not there")
    _check_ends(rules)
    _check_beginnings(rules, most_beginnings)


def _parts(choices: Choices) -> Iterator[Part]:
    """Every part of a rule, the inner ones too."""
    todo: list[Part] = [part for choice in choices for part in choice]
    while todo:
        part = todo.pop()
        yield part
        if isinstance(part, Repeat):
            todo.append(part.part)
        elif isinstance(part, Group):
            todo += [inner for choice in part.choices for inner in choice]


def _holding(rules: Mapping[str, Choices], holds: Callable[[Part, set[str]], bool]) -> set[str]:
    """The rules of which one choice consists of parts that hold, given the rules known to hold: to a fixed point."""
    known: set[str] = set()
    order = _inner_first(rules)
    while True:
        before = len(known)
        for name in order:
            if name not in known and _any_choice(rules[name], known, holds):
                known.add(name)
        if len(known) == before:
            return known


def _inner_first(rules: Mapping[str, Choices]) -> list[str]:
    """The rules, each after those that it uses as far as they do not use each other: one pass then settles most."""
    used = {
        name: [part.name for part in _parts(choices) if isinstance(part, Reference)] for name, choices in rules.items()
    }
    order: dict[str, None] = {}
    seen: set[str] = set()
    for start in rules:
        path = [] if start in seen else [(start, iter(used[start]))]
        seen.add(start)
        while path:
            name, others = path[-1]
            other = next((each for each in others if each not in seen), None)
            if other is None:
                order[name] = None
                path.pop()
            else:
                seen.add(other)
                path.append((other, iter(used[other])))
    return list(order)


def _any_choice(choices: Choices, known: set[str], holds: Callable[[Part, set[str]], bool]) -> bool:
    return any(all(holds(part, known) for part in choice) for choice in choices)


def _may_be_empty(part: Part, empty: set[str]) -> bool:
    match part:
        case Nothing():
            return True
        case Characters():
            return False
        case Reference(name):
            return name in empty
        case Group(choices):
            return _any_choice(choices, empty, _may_be_empty)
        case Repeat(inner, least, _):
            return least == 0 or _may_be_empty(inner, empty)


def _has_empty(choices: Choices) -> bool:
    """Whether one of the choices has nothing in it."""
    return any(all(isinstance(part, Nothing) for part in choice) for choice in choices)


def _is_empty_at_once(part: Part, rules: set[str]) -> bool:
    """Whether a part has a choice with nothing in it, as ``rules`` have, which is all that llama.cpp looks for."""
    match part:
        case Reference(name):
            return name in rules
        case Group(choices):
            return _has_empty(choices)
        case Repeat(_, least, _):
            return least == 0
        case _:
            return False


def _may_end(part: Part, ending: set[str]) -> bool:
    match part:
        case Nothing() | Characters():
            return True
        case Reference(name):
            return name in ending
        case Group(choices):
            return _any_choice(choices, ending, _may_end)
        case Repeat(inner, least, _):
            return least == 0 or _may_end(inner, ending)


def _check_ends(rules: Mapping[str, Choices]) -> None:
    """Every rule must have an end: what has none is written for ever."""
    for name in rules.keys() - _holding(rules, _may_end):
        raise GrammarRefused(f"rule “{name}” never ends")


def _check_beginnings(rules: Mapping[str, Choices], most: int) -> None:
    """No rule may call itself before it has read anything, nor begin in too many ways."""
    empty = _holding(rules, _may_be_empty)
    empty_at_once = {name for name, choices in rules.items() if _has_empty(choices)}
    for name, choices in rules.items():
        for part in _parts(choices):
            if isinstance(part, Repeat) and part.most is None and _is_empty_at_once(part.part, empty_at_once):
                # llama.cpp takes this for a rule that calls itself.
                raise GrammarRefused(f"rule “{name}” repeats what may be empty")
    ways: dict[str, int] = {}
    first = {name: _firsts(choices, empty) for name, choices in rules.items()}
    for start in rules:
        _count_ways(start, first, ways, most)


def _firsts(choices: Choices, empty: set[str]) -> tuple[int, collections.Counter[str]]:
    """How many texts and classes a rule may begin with, and how often each rule, with what may be empty passed over."""
    characters = 0
    names: collections.Counter[str] = collections.Counter()
    todo = [(choice, 1) for choice in choices]
    while todo:
        choice, times = todo.pop()
        for part in choice:
            match part:
                case Characters():
                    characters += times
                case Reference(name):
                    names[name] += times
                case Group(inner):
                    todo += [(other, times) for other in inner]
                case Repeat(inner_part, _, most):
                    # Each turn of what may be empty can be the first that is not.
                    again = most if most is not None and _may_be_empty(inner_part, empty) else 1
                    todo.append(((inner_part,), times * again))
            if not _may_be_empty(part, empty):
                break
    return characters, names


def _count_ways(
    start: str, first: Mapping[str, tuple[int, collections.Counter[str]]], ways: dict[str, int], most: int
) -> None:
    """Fill in the number of beginnings of ``start`` and of the rules that it begins with."""
    path = {} if start in ways else {start: iter(first[start][1])}
    while path:
        name = next(reversed(path))
        missing = next((other for other in path[name] if other not in ways), None)
        if missing in path:
            raise GrammarRefused(f"rule “{missing}” calls itself before anything is read")
        if missing is not None:
            path[missing] = iter(first[missing][1])
            continue
        characters, names = first[name]
        ways[name] = 1 + characters + sum(ways[other] * times for other, times in names.items())
        if ways[name] > most:
            raise GrammarRefused(f"rule “{name}” begins in more than {most} ways")
        del path[name]
