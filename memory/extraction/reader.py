"""Finds what a message states: by patterns, without a model, in its own words alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from memory.extraction.objects import objects
from memory.extraction.patterns import Kind, Language, Pattern, Patterns
from memory.extraction.statements import Said, Statement, masked, statements
from memory.text import folded_words

_CLAUSE: Final = re.compile(r"[,;:.!]\s+|\b(?:and|but|so|because|since|y|e|pero|porque)\s+", re.IGNORECASE)
_MOST_FILLERS: Final = 4
# "3 years of …" and "3 años de …" are no age.
_GOES_ON: Final = re.compile(r" (?:of|de|del)\b", re.IGNORECASE)
_HELLO: Final = re.compile(r"hi|hello|hey|hola|buenas|buenos|good", re.IGNORECASE)
# What follows a name that tells who that is: ", Ana's friend", ", la prima de Ana".
_WHO: Final = re.compile(r",? (?:from|the|a|an|el|la|un|una|de|[A-ZÑ]\w+'s|your|tu)\b|\s*$")


@dataclass(frozen=True)
class Whom:
    """Whom a statement speaks of: the speaker (``kind`` self), the household (home), or somebody (other).

    ``relation``: a key of the relations, after "my"; ``name``: as it was written; ``thing``: of the household.
    """

    kind: Kind
    relation: str = ""
    name: str = ""
    thing: str = ""


@dataclass(frozen=True)
class Found:
    """One thing that a message states. ``quote``: its exact words, from ``start`` to ``end`` of the message.

    ``the``: the article of the object; ``over``: it is said to be no longer so; ``place``: in, on or under it;
    ``word``: how the relation was called.
    """

    predicate: str
    detail: str
    object: str
    the: str
    whom: Whom
    language: Language
    quote: str
    start: int
    end: int
    over: bool = False
    place: str = ""
    word: str = ""


@dataclass(frozen=True)
class Reading:
    """What a message states. ``speaker``: the name that it gives of whoever speaks; None where it gives none.

    ``takes_back``: that what was said before was not said by the member: the last of it, or all.
    """

    found: tuple[Found, ...] = ()
    speaker: str | None = None
    takes_back: str = ""


class Reader:
    """Reads messages of at most ``longest`` characters; of a longer one nobody knows whose words it is made of."""

    def __init__(self, patterns: Patterns, longest: int) -> None:
        self._patterns = patterns
        self._longest = longest

    def read(self, message: str) -> Reading:
        """What the message states, in its order."""
        if len(message) > self._longest:
            return Reading()
        said = Said.of(message)
        readable = masked(said.text)
        patterns = self._patterns
        opening = readable.strip(" \t\n¡¿")
        if patterns.all_disowned.match(opening):
            return Reading(takes_back="all")
        if patterns.disowned.match(opening):
            return Reading(takes_back="last")
        if patterns.works.search(readable):
            return Reading()
        found: list[Found] = []
        speaker: str | None = None
        for statement in statements(readable):
            doubtful = patterns.anywhere.search(readable, *_sentence(readable, statement))
            if doubtful or patterns.passing.search(readable, statement.start, statement.end):
                continue
            for start in self._starts(readable, statement):
                if patterns.before.search(readable, statement.start, start):
                    break
                if found and said.places[start] < found[-1].end:
                    continue
                introduced = self._introduced(said, readable, start, statement)
                speaker = speaker if introduced is None else introduced
                found += self._at(said, readable, start, statement)
        return Reading(tuple(found), speaker)

    def _starts(self, readable: str, statement: Statement) -> Iterator[int]:
        """Where clauses begin, what only leads up to them passed over."""
        seen = set()
        heads = [statement.start, *(each.end() for each in _CLAUSE.finditer(readable, statement.start, statement.end))]
        for head in heads:
            for _ in range(_MOST_FILLERS):
                if head not in seen:
                    seen.add(head)
                    yield head
                passed = (
                    self._patterns.fillers[language].match(readable, head, statement.end) for language in ("es", "en")
                )
                head = max((each.end() for each in passed if each), default=head)

    def _at(self, said: Said, readable: str, start: int, statement: Statement) -> list[Found]:
        for pattern in self._patterns.patterns:
            match = pattern.regex.match(readable, start, statement.end)
            if match is None or _GOES_ON.match(readable, match.end(), statement.end):
                continue
            if found := self._found(said, match, pattern):
                return found
        return []

    def _found(self, said: Said, match: re.Match[str], pattern: Pattern) -> list[Found]:
        groups = match.groupdict()
        whom = self._whom(said, match, pattern)
        first, last = match.span("object")
        made = []
        for each in objects(said.text, first, last, pattern.language, pattern.limits):
            quote_end = said.places[each.end]
            made.append(
                Found(
                    pattern.predicate,
                    self._detail(said, match, pattern),
                    said.text[each.start : each.end],
                    each.the,
                    whom if pattern.predicate not in ("relative", "pet") else Whom("self"),
                    pattern.language,
                    said.message[said.places[match.start()] : quote_end],
                    said.places[match.start()],
                    quote_end,
                    over=pattern.kind == "over",
                    place=groups.get("place") or "",
                    word=self._word(said, match),
                )
            )
        if made and whom.relation and whom.name and pattern.kind == "other":
            made.insert(0, self._relative(said, match, whom, pattern.language))
        return made

    def _relative(self, said: Said, match: re.Match[str], whom: Whom, language: Language) -> Found:
        """That somebody is called so, which "my son Leo is …" says too."""
        end = said.places[match.end("person")]
        start = said.places[match.start()]
        predicate = "pet" if self._patterns.relations[whom.relation].pet else "relative"
        quote = said.message[start:end]
        word = self._word(said, match)
        return Found(predicate, whom.relation, whom.name, "", Whom("self"), language, quote, start, end, word=word)

    def _word(self, said: Said, match: re.Match[str]) -> str:
        group = next((name for name in ("rel", "pet") if match.groupdict().get(name)), None)
        return said.text[slice(*match.span(group))].lower() if group else ""

    def _whom(self, said: Said, match: re.Match[str], pattern: Pattern) -> Whom:
        groups = match.groupdict()
        if pattern.kind == "home":
            thing = said.text[slice(*match.span("thing"))] if groups.get("thing") else ""
            return Whom("home", thing=thing)
        if pattern.kind != "other":
            return Whom("self")
        word = groups.get("rel") or groups.get("pet")
        relation = self._patterns.relation(pattern.language, word).key if word else ""
        group = "person" if groups.get("person") else "bare"
        name = said.text[slice(*match.span(group))] if groups.get(group) else ""
        return Whom("other", relation, name)

    def _detail(self, said: Said, match: re.Match[str], pattern: Pattern) -> str:
        groups = match.groupdict()
        if pattern.predicate in ("relative", "pet"):
            return self._patterns.relation(pattern.language, groups.get("rel") or groups["pet"]).key
        return said.text[slice(*match.span("detail"))].lower() if groups.get("detail") else ""

    def _introduced(self, said: Said, readable: str, start: int, statement: Statement) -> str | None:
        """The name of whoever speaks; empty for what may be a name or not ("I'm Catalan")."""
        for regex, sure in self._patterns.introductions:
            match = regex.match(readable, start, statement.end)
            name = said.text[slice(*match.span("object"))].strip() if match else ""
            if match and not self._patterns.not_names & set(folded_words(name)):
                greeted = start > statement.start and _HELLO.match(readable, statement.start)
                return name if sure or greeted or _WHO.match(readable, match.end()) else ""
        return None


def _sentence(readable: str, statement: Statement) -> tuple[int, int]:
    """Where the whole sentence of a statement begins and ends: "…, haha" takes back what stands before the comma."""
    begin = max(readable.rfind(sign, 0, statement.start) for sign in "\n.!?") + 1
    ends = [at for sign in "\n!?" if (at := readable.find(sign, statement.end)) >= 0]
    return begin, min(ends, default=len(readable))
