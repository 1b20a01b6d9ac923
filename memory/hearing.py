"""What a member says becomes facts: at once, from their own words alone, and again whenever that is asked for.

What was said is in ``messages``, which are never changed; what people did with facts in ``fact_acts``; what a model
read in ``readings``. Facts follow from these three in the order of their times, so they can be made anew at any time.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from configs.sections.memory import MemorySettings
from memory.chats import ChatMessage, Chats
from memory.errors import FactTooLong
from memory.extraction.asked import asked_to_remember
from memory.extraction.checking import Claim, checked, may_hold_a_claim
from memory.extraction.patterns import load_patterns
from memory.extraction.people import UNSURE, Circle, Known, Subject, speaker_of, subject_key, subject_of
from memory.extraction.reader import Found, Reader, Reading
from memory.extraction.sentences import sentence
from memory.fact_acts import Acts
from memory.fact_ledger import Ledger
from memory.fact_rows import Fact, Made
from memory.members import Member
from memory.readings import Readings
from memory.text import fold

_TIME_DIGITS: Final = 12  # of an id: its milliseconds


@dataclass(frozen=True)
class Heard:
    """What one message changed: facts that are new, and facts that fell because of it.

    ``asked``: the fact that the member asked, in so many words, to be remembered.
    """

    new: tuple[Fact, ...] = ()
    fell: tuple[Fact, ...] = ()
    asked: Fact | None = None


@dataclass(frozen=True)
class Rebuilt:
    """What making facts anew came to: how many there are, and which came out otherwise than they were."""

    facts: int
    gone: tuple[Fact, ...]
    new: tuple[Fact, ...]


class Hearing:
    """Listens to one member."""

    def __init__(
        self,
        member: Member,
        chats: Chats,
        ledger: Ledger,
        readings: Readings,
        circle: Callable[[], Circle],
        settings: MemorySettings,
    ) -> None:
        """``circle()``: who belongs to the household, without whom the member has told of."""
        self._member = member
        self._chats = chats
        self.ledger = ledger
        self._readings = readings
        self._circle_of = circle
        self._settings = settings

    @cached_property
    def reader(self) -> Reader:
        """Made when it is first needed: its patterns take a moment to be compiled."""
        return Reader(load_patterns(), self._settings.facts.longest_message)

    def hear(self, question: ChatMessage) -> Heard:
        """Keep what follows from a message of the member's; nothing is kept twice. Raises FactTooLong."""
        asked = asked_to_remember(question.content)
        if asked is not None and len(asked) > self._settings.fact_characters:
            raise FactTooLong(length=len(asked), limit=self._settings.fact_characters)
        return self._hear(question)

    def _hear(self, question: ChatMessage) -> Heard:
        with self.ledger.alone():
            fell = [*self._rephrased(question)]
            reading = self.reader.read(question.content)
            if reading.takes_back:
                fell += self._taken_back(question, everything=reading.takes_back == "all")
                return Heard((), tuple(fell))
            asked = self._asked(question, reading)
            if asked is not None:
                return Heard((asked,) if self._add(asked) else (), tuple(fell), asked)
            if self._member.standing not in self._settings.facts.in_passing or not reading.found:
                return Heard((), tuple(fell))
            return Heard(tuple(self._stated(question, reading.found, reading.speaker, "rules")), tuple(fell))

    def unread(self, most: int) -> list[ChatMessage]:
        """The latest messages of the member that no model has read and that may say something, the latest first."""
        if self._member.standing not in self._settings.facts.in_passing:
            return []
        found = []
        for message in map(self._chats.message, self._readings.waiting(most)):
            longest = self._settings.facts.longest_message
            own = not _said_elsewhere(message) and len(message.content) <= longest
            if own and may_hold_a_claim(message.content, load_patterns()):
                found.append(message)
            else:
                self._readings.keep(message.id, "", ())
        return found

    def read_by_model(self, question: ChatMessage, reader: str, claims: Iterable[Claim]) -> tuple[Fact, ...]:
        """Keep what a model claims to have read in a message, as far as code finds it there; that it has read it too.

        ``reader``: which model, with which instruction.
        """
        known = self.reader.read(question.content).found
        found = []
        for claim in claims:
            each = checked(claim, question.content, load_patterns())
            # Where a pattern has read something, it has read it better.
            if each is not None and not any(each.start < other.end and other.start < each.end for other in known):
                found.append(each)
        with self.ledger.alone():
            self._readings.keep(question.id, reader, found)
            return tuple(self._from_model(question, found))

    def _from_model(self, question: ChatMessage, found: Iterable[Found]) -> list[Fact]:
        reading = self.reader.read(question.content)
        if reading.takes_back or asked_to_remember(question.content) is not None:
            return []
        with self.ledger.alone():
            return self._stated(question, found, reading.speaker, "model")

    def rebuild(self) -> Rebuilt:
        """Make all facts of this member anew, out of what was said and done. They come out as they were, but for what
        the household, the patterns or the settings have changed since.
        """
        with self.ledger.together():
            before = {fact.id: fact for fact in self._made_of()}
            for fact in before.values():
                for rows in self.ledger.rows.values():
                    rows.drop(fact.id)
            for _, _, happen in sorted(self._everything(), key=lambda each: each[:2]):
                happen()
            after = {fact.id: fact for fact in self._made_of()}
        same = {key for key, fact in before.items() if after.get(key) == fact}
        gone, new = (tuple(fact for key, fact in facts.items() if key not in same) for facts in (before, after))
        return Rebuilt(len(after), gone, new)

    def _made_of(self) -> list[Fact]:
        """The member's facts that can be made anew: those whose message, or whose noting, is there still."""
        there = {message.id for message in self._chats.questions()}
        facts = self.ledger.where("made_of", self._member.id)
        return [fact for fact in facts if fact.source in there or fact.made_by == "person"]

    def _everything(self) -> Iterator[tuple[float, int, Callable[[], object]]]:
        """When everything happened, in which order at one time, and how it is done again."""
        for number, message in enumerate(self._chats.questions()):
            if _said_elsewhere(message):
                continue
            yield message.created_at, number, lambda message=message: self._hear(message)  # type: ignore[misc]
            if kept := self._readings.of(message.id):
                yield kept.at, number, lambda message=message, kept=kept: self._from_model(message, kept.found)  # type: ignore[misc]
        for rows in self.ledger.rows.values():
            for number, act in enumerate(Acts(rows.database).list()):
                yield act.at, number, lambda act=act: self.ledger.apply(act, of=self._member.id)  # type: ignore[misc]

    def _asked(self, question: ChatMessage, reading: Reading) -> Fact | None:
        """What the member asks to be remembered: as it was said, and what it says where that is one thing."""
        text = asked_to_remember(question.content)
        if text is None:
            return None
        only = reading.found[0] if len(reading.found) == 1 and not reading.found[0].over else None
        made = self._made(question, only, "rules", "", self.circle()) if only else None
        if made is None:
            line = f"{self._member.id}|note|{fold(text)}"
            made = replace(self._empty(question, "note", text), line=line, object=text, subject="")
        return replace(made, text=text, quote=text)

    def _stated(
        self, question: ChatMessage, found: Iterable[Found], introduced: str | None, made_by: Made
    ) -> list[Fact]:
        before, speaker = self._before(question), ""
        circle = self.circle()
        for earlier in before:
            speaker = speaker_of(self.reader.read(earlier.content).speaker, circle, speaker)
        speaker = speaker_of(introduced, circle, speaker)
        new = []
        for each in found:
            # What the same message says of somebody is known when it goes on about them.
            fact = self._made(question, each, made_by, speaker, self.circle())
            if fact is not None and self._add(fact):
                new.append(self.ledger.find(fact.id) or fact)
        return new

    def _add(self, fact: Fact) -> bool:
        return self.ledger.find(fact.id) is None and self.ledger.add(fact)

    def _made(self, question: ChatMessage, found: Found, made_by: Made, speaker: str, circle: Circle) -> Fact | None:
        """The fact; None where whom it is about is not certain, or where nothing stands that could be over."""
        patterns = load_patterns()
        subject = subject_of(found, circle, speaker, patterns)
        if subject is None or found.quote not in question.content or fold(found.object) not in fold(found.quote):
            return None
        line = self._line(found, subject, speaker)
        if found.over:
            standing = self.ledger.standing(line)
            if standing is None or standing.denied or fold(standing.object) != fold(found.object):
                return None
        told = speaker if speaker != UNSURE else ""
        fact = self._empty(question, found.predicate, f"{found.detail}|{found.object}|{subject.text}|{found.over}")
        return replace(
            fact,
            text=sentence(found, subject, patterns, question.created_at),
            subject=subject.text,
            detail=found.detail,
            object=found.object,
            about=subject.about,
            about_member=subject.member_id,
            denied=found.over,
            speaker=told,
            quote=found.quote,
            made_by=made_by,
            line=line,
        )

    def _empty(self, question: ChatMessage, predicate: str, what: str) -> Fact:
        """A fact of which is known where it was said; its id is the same whenever it is made."""
        digest = hashlib.sha256(f"{question.id}|{predicate}|{fold(what)}".encode()).hexdigest()
        fact_id = question.id[:_TIME_DIGITS] + digest[: 32 - _TIME_DIGITS]
        at = question.created_at
        fact = Fact(fact_id, "", "", self._member.id, "private", at, predicate=predicate, valid_from=at)
        return replace(fact, source=question.id, made_by="rules")

    def _line(self, found: Found, subject: Subject, speaker: str) -> str:
        predicate = load_patterns().predicates[found.predicate]
        whom = subject.member_id or subject_key(subject.text, load_patterns())
        parts = [self._member.id, speaker, whom, predicate.line, found.detail]
        return "|".join([*parts, fold(found.object)] if predicate.many else parts)

    def circle(self) -> Circle:
        """Who may be meant: the household, and whom its facts tell of."""
        known = tuple(
            Known(fact.object, fact.detail, fact.said_by == self._member.id) for fact in self.ledger.where("people")
        )
        return replace(self._circle_of(), known=known)

    def _before(self, question: ChatMessage) -> list[ChatMessage]:
        path = self._chats.path(question.conversation_id, question.id)
        return [message for message in path if message.role == "user" and message.id != question.id]

    def _taken_back(self, question: ChatMessage, *, everything: bool) -> list[Fact]:
        """Have what was said before, by somebody who was not the member, fall: the last of it, or all."""
        fell: list[Fact] = []
        for earlier in reversed(self._before(question)):
            facts = self._left_by(earlier)
            fell += [self.ledger.take_away(fact, "disowned", question.created_at) for fact in facts]
            if fell and not everything:
                break
        return fell

    def _rephrased(self, question: ChatMessage) -> Iterator[Fact]:
        """Have what an earlier wording of the same question said fall."""
        for other in self._chats.siblings(question.id):
            if other.id == question.id:
                return
            for fact in self._left_by(other):
                yield self.ledger.take_away(fact, "edited", question.created_at)

    def _left_by(self, message: ChatMessage) -> list[Fact]:
        return [fact for fact in self.ledger.where("said_in", json.dumps([message.id])) if fact.forgotten_at is None]


def _said_elsewhere(message: ChatMessage) -> bool:
    """Whether it was said to another assistant: nobody would be told what is kept of it."""
    return "imported" in message.meta
