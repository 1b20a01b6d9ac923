"""What sentences say, in Spanish and English, where they say it plainly."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from memory.documents.extracting.blocks import Block
from memory.documents.extracting.findings import Findings
from memory.documents.extracting.names import NAME, emails, ibans, is_company, is_role, may_be, phones, trimmed
from memory.documents.extracting.sentences import Sentence, sentences
from memory.documents.extracting.verbs import Verb, day_of, may_be_object, patterns, role_of, verbs
from memory.documents.found import Entity
from memory.graph.terms import Kind

_A_NAME: Final = re.compile(rf"(?<!\w){NAME}")
_ASIDE: Final = re.compile(r",\s[^,.;:]{1,60},")
_AND: Final = re.compile(
    r"(?:\s(?:desde|since|for|durante)\s[^,.;:]{1,30}?)?(?:,?\s(?:y|e|and)(?:\s(?:también|además|also))?|,)(?=\s)"
)
_CLAUSE: Final = re.compile(r"(?:^|(?<=[,;:.]\s)|(?<=\sy\s)|(?<=\sand\s)|(?<=^[¡¿]))(?:[Yy]o\s|[Aa]hora\s|[Nn]ow\s)?")


class Prose:
    """Reads stretches of a document's text into ``findings``."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._last: Entity | None = None

    def read(self, block: Block) -> None:
        """Everything that the sentences of a block say."""
        self._last = None
        speaker = block.speaker if may_be("person", block.speaker or "-") else ""
        for start, end in sentences(self._findings.text, block.start, block.end):
            sentence = Sentence(self._findings.text, start, end)
            if not sentence.says:
                self._last = None
                continue
            if speaker:
                self._of_speaker(Entity("person", speaker), sentence)
            self._told_elsewhere(sentence)
            self._told_of_names(sentence)
            self._reached(sentence)

    def _told_of_names(self, sentence: Sentence) -> None:
        """A name, and what follows it; and what follows that, of the same name."""
        for found in _A_NAME.finditer(sentence.text):
            start, end = trimmed(sentence.text, *found.span())
            name = sentence.text[start:end]
            kind = _kind_of(name)
            if not may_be(kind, name) or not sentence.sure(start):
                continue
            subject, at = Entity(kind, name), end
            told = self._verb(subject, sentence, start, at)
            if told is None and (aside := _ASIDE.match(sentence.text, at)):
                told = self._verb(subject, sentence, start, aside.end() - 1) or self._verb(
                    subject, sentence, start, aside.end()
                )
            if told is None and sentence.text[at : at + 1] == ",":
                told = self._verb(subject, sentence, start, at + 1)
            if told is not None:
                self._findings.name(subject, sentence.start + start, sentence.start + end)
                self._last = subject
            while told is not None and (joined := _AND.match(sentence.text, told)):
                told = self._verb(subject, sentence, start, joined.end())

    def _verb(self, subject: Entity, sentence: Sentence, begin: int, at: int) -> int | None:
        """Take what a verb at ``at`` says of a subject that is named at ``begin``; where it ends, None for none."""
        for verb in verbs("of_somebody"):
            if match := verb.pattern.match(sentence.text, at):
                end = self._take(subject, verb, match, sentence, begin)
                if end is not None:
                    return end
        return None

    def _take(self, subject: Entity, verb: Verb, match: re.Match[str], sentence: Sentence, begin: int) -> int | None:
        place = sentence.start
        if (when := day_of(match)) is not None:
            self._findings.say(subject, "birthday", when, place + begin, place + match.end())
            return match.end()
        if verb.object is None:
            return self._take_reached(subject, verb, match, place + begin)
        start, end = match.span("o")
        if not may_be_object(verb, match, sentence.text[start:end]):
            return None
        obj = Entity(verb.object, sentence.text[start:end])
        first, second = (obj, subject) if verb.turned else (subject, obj)
        if subject.kind == "company" and verb.predicate in ("works_at", "lives_in"):
            return None
        self._findings.name(obj, place + start, place + end)
        self._findings.say(first, verb.predicate, second, place + begin, place + match.end())
        if (role := role_of(match)) is not None:
            self._findings.say(subject, "role", role, place + begin, place + match.end())
        return match.end()

    def _take_reached(self, subject: Entity, verb: Verb, match: re.Match[str], begin: int) -> int | None:
        told = match.groupdict()
        found = emails(told["email"]) if told.get("email") else phones(told.get("phone") or "")
        if not found:
            return None
        self._findings.say(subject, verb.predicate, found[0][2], begin, begin - match.start() + match.end())
        return match.end()

    def _of_speaker(self, speaker: Entity, sentence: Sentence) -> None:
        for clause in _CLAUSE.finditer(sentence.text):
            if not sentence.sure(clause.end()):
                continue
            for verb in verbs("of_oneself"):
                if (match := verb.pattern.match(sentence.text, clause.end())) and self._take(
                    speaker, verb, match, sentence, match.start()
                ):
                    break

    def _told_elsewhere(self, sentence: Sentence) -> None:
        for verb in verbs("elsewhere"):
            for match in verb.pattern.finditer(sentence.text):
                if not (sentence.sure(match.start()) and verb.subject and verb.object):
                    continue
                subject, obj = (
                    self._end(sentence, match, "s", verb.subject),
                    self._end(sentence, match, "o", verb.object),
                )
                if subject and obj:
                    self._findings.say(subject, verb.predicate, obj, *self._span(sentence, match))
        for match in _matches("role_before", sentence):
            person = self._end(sentence, match, "s", "person")
            if person and is_role(match["role"]):
                self._findings.say(person, "role", match["role"].lower(), *self._span(sentence, match))
                self._last = person
        for match in _matches("holder", sentence):
            numbers = ibans(match["iban"])
            holder = self._end(sentence, match, "s", _kind_of(match["s"]))
            if numbers and holder:
                account, at = Entity("account", numbers[0][2]), sentence.start + match.start("iban")
                self._findings.name(account, at, at + len(match["iban"]))
                self._findings.say(holder, "holds", account, *self._span(sentence, match))

    def _reached(self, sentence: Sentence) -> None:
        """E-mail and telephone, of a name or of whom was spoken of last."""
        for match in _matches("reached", sentence):
            self._say_reached(sentence, match, self._end(sentence, match, "s", _kind_of(match["s"])))
        for match in _matches("reached_last", sentence):
            self._say_reached(sentence, match, self._last)

    def _say_reached(self, sentence: Sentence, match: re.Match[str], whose: Entity | None) -> None:
        if whose is None:
            return
        if found := emails(match["value"]):
            self._findings.say(whose, "email", found[0][2], *self._span(sentence, match))
        elif found := phones(match["value"]):
            self._findings.say(whose, "phone", found[0][2], *self._span(sentence, match))

    def _end(self, sentence: Sentence, match: re.Match[str], group: str, kind: Kind) -> Entity | None:
        """What a match names at one of its ends, where it may be of this kind."""
        start, end = trimmed(sentence.text, *match.span(group))
        name = sentence.text[start:end]
        if not may_be(kind, name):
            return None
        entity = Entity(kind, name)
        self._findings.name(entity, sentence.start + start, sentence.start + end)
        return entity

    def _span(self, sentence: Sentence, match: re.Match[str]) -> tuple[int, int]:
        return sentence.start + match.start(), sentence.start + match.end()


def _matches(part: str, sentence: Sentence) -> Iterator[re.Match[str]]:
    """Where a sentence says something in one of these ways, as a fact."""
    for pattern in patterns(part):
        yield from (match for match in pattern.finditer(sentence.text) if sentence.sure(match.start()))


def _kind_of(name: str) -> Kind:
    return "company" if is_company(name) else "person"
