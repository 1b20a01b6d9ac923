"""What the family said, and what follows from it, with who said it and since when; with its history."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, replace
from typing import Final

from configs.sections.memory import MemorySettings
from memory.clock import Clock
from memory.errors import FactEmpty, FactOfAnother, FactTooLong, FactUnknown
from memory.fact_acts import ActKind, Acts
from memory.fact_ledger import Ledger
from memory.fact_rows import Fact, Which, facts_at
from memory.ids import new_id
from memory.text import fold, folded_words, storable
from memory.visibility import Visibility

__all__ = ["Fact", "Facts", "FoundFacts", "facts_at"]

FoundFacts = list[Fact]  # inside the class, `list` is its method
_RESTORABLE: Final = ("forgotten", "undone", "disowned")


class Facts:
    """What one member can see: their own private facts and the household's shared ones.

    A fact lives in exactly one file: the member's, or ``family.db`` when it is shared.
    """

    def __init__(self, ledger: Ledger, member_id: str, settings: MemorySettings, clock: Clock) -> None:
        self._ledger = ledger
        self._acts = {place: Acts(rows.database) for place, rows in ledger.rows.items()}
        self._member_id = member_id
        self._settings = settings
        self._clock = clock

    def add(self, text: str, *, subject: str = "", visibility: Visibility = "private") -> Fact:
        """Remember a text as this member's word. Raises FactEmpty, FactTooLong."""
        fact = self._note(self._checked(text), storable(subject).strip(), visibility)
        self._do("add", fact, fact)
        return fact

    def list(self, *, forgotten: bool = False, as_of: float | None = None) -> list[Fact]:
        """Facts, the newest first; with ``forgotten`` those that can be restored; what was so ``as_of`` a time."""
        if forgotten:
            found = self._ledger.where("out_of_mind")
        elif as_of is not None:
            found = [fact for fact in self._ledger.where("begun_by", as_of) if fact.holds_at(as_of)]
        else:
            found = self._ledger.where("standing")
        return sorted(found, key=lambda fact: fact.id, reverse=True)

    def get(self, fact_id: str) -> Fact:
        """A fact in whatever state, in its latest words. Raises FactUnknown, also for another's private fact."""
        found = self._ledger.find(storable(fact_id))
        if found is None:
            raise FactUnknown(id=fact_id)
        while found.forgotten_as == "edited" and found.replaced_by:
            later = self._ledger.find(found.replaced_by)
            if later is None:
                break
            found = later
        return found

    def history(self, fact_id: str) -> FoundFacts:
        """What was so before a fact and after it, and in which words, the earliest first. Raises FactUnknown."""
        fact = self.get(fact_id)
        found = {each.id: each for each in self._ledger.where("of_line", fact.line)} if fact.line else {}
        waiting = [fact, *found.values()]
        found[fact.id] = fact
        while waiting:
            at = waiting.pop()
            after = self._ledger.find(at.replaced_by) if at.replaced_by else None
            near = [*self._ledger.where("replaced_by", at.id), *([after] if after else [])]
            waiting += [each for each in near if each.id not in found]
            found |= {each.id: each for each in near}
        return sorted(found.values(), key=lambda each: (each.valid_from, each.created_at, each.id))

    def edit(
        self,
        fact_id: str,
        *,
        text: str | None = None,
        subject: str | None = None,
        visibility: Visibility | None = None,
    ) -> Fact:
        """The fact with other words or another subject, which is a fact of its own, or seen by others.

        Raises FactUnknown, FactEmpty, FactTooLong.
        """
        fact = self.get(fact_id)
        if visibility == "private" and fact.said_by != self._member_id:
            # Nobody can take what another said for themselves alone.
            raise FactUnknown(id=fact_id)
        # Words that are to be private are not put where the household could see them, nor the other way round.
        if visibility == "private" and fact.visibility == "shared":
            fact = self._take_home(fact)
        if text is not None or subject is not None:
            fact = self._reworded(fact, text, subject)
        if visibility == "shared" and fact.visibility == "private":
            self._do("share", fact)
        return self.get(fact.id)

    def forget(self, fact_id: str) -> Fact:
        """Take a fact out of recall and search until ``restore``, however often it was said. Raises FactUnknown."""
        self._do("forget", self.get(fact_id))
        return self.get(fact_id)

    def undo(self, fact_id: str) -> Fact:
        """Take a fact back as if it had never been said: what it took the place of stands again. Raises FactUnknown."""
        self._do("undo", self.get(fact_id))
        return self.get(fact_id)

    def restore(self, fact_id: str) -> Fact:
        """Undo ``forget`` and ``undo``. Raises FactUnknown."""
        self._do("restore", self.get(fact_id))
        return self.get(fact_id)

    def purge(self, fact_id: str) -> bool:
        """Remove a fact for good, however often and in whichever words it was said, with every trace of it in the
        databases; only who said it may. That it is to stay away is kept, without a word of it.

        False where another window still holds a file as it was: the last one to close it finishes. Raises FactUnknown,
        FactOfAnother, DiskFull.
        """
        latest, named = self.get(fact_id), self._ledger.find(storable(fact_id))
        own = next((fact for fact in (latest, named) if fact is not None and fact.said_by == self._member_id), None)
        if own is None:
            raise FactOfAnother(id=fact_id)
        self._remove(own)
        scrubbed = [rows.database.scrub() for rows in self._ledger.rows.values()]
        return all(scrubbed)

    def purge_forgotten(self, before: float) -> int:
        """Remove for good what this member said and what was forgotten before a time; how many facts went."""
        old = [fact for fact in self.list(forgotten=True) if fact.said_by == self._member_id]
        gone = [fact for fact in old if fact.forgotten_at is not None and fact.forgotten_at < before]
        for fact in gone:
            self._remove(fact)
        return len(gone)

    def said_in(self, message_ids: Iterable[str]) -> FoundFacts:
        """What follows from messages, whether it stands or not."""
        return self._ledger.where("said_in", json.dumps(list(message_ids)))

    def purge_said_in(self, message_ids: Iterable[str]) -> bool:
        """Remove for good what follows from messages that are about to be removed, with every trace in the household's
        file. False where another window still holds that file as it was. Raises DiskFull.
        """
        gone = self.said_in(message_ids)
        for fact in gone:
            self._remove(fact)
        return not any(fact.visibility == "shared" for fact in gone) or self._ledger.rows["shared"].database.scrub()

    def search(self, text: str, limit: int = 20) -> FoundFacts:
        """Facts that hold every word of ``text``, accents aside, the newest first; any text is safe."""
        wanted = folded_words(storable(text)[: self._settings.search.query_characters])
        if not wanted:
            return []
        return [fact for fact in self.list() if _holds(fact, wanted)][:limit]

    def _do(self, kind: ActKind, fact: Fact, said: Fact | None = None) -> None:
        """Keep what is done, where the fact is, and do it."""
        with self._ledger.together() if fact.visibility == "shared" or kind == "share" else self._ledger.alone():
            acts = self._acts[fact.visibility]
            act = acts.record(fact.id, self._member_id, kind, self._clock(), None if said is None else asdict(said))
            self._ledger.apply(act)

    def _note(self, text: str, subject: str, visibility: Visibility) -> Fact:
        now = self._clock()
        fact_id = new_id(now)
        line = f"{self._member_id}|note|{fold(text)}"
        fact = Fact(fact_id, text, subject, self._member_id, visibility, now, object=text, valid_from=now)
        return replace(fact, source=fact_id, quote=text, line=line)

    def _reworded(self, old: Fact, text: str | None, subject: str | None) -> Fact:
        """Another fact in the place of ``old``, in the words of whoever changed it."""
        now = self._clock()
        new_text = old.text if text is None else self._checked(text)
        fact_id = new_id(now)
        new = replace(
            old,
            id=fact_id,
            text=new_text,
            subject=old.subject if subject is None else storable(subject).strip(),
            said_by=self._member_id,
            created_at=now,
            valid_to=None,
            replaced_by=None,
            source=fact_id,
            quote=new_text,
            made_by="person",
        )
        if text is not None:
            # The line stays: what is said later of the same takes its place.
            new = replace(new, predicate="note", detail="", object=new_text, denied=False)
        self._do("edit", old, new)
        return new

    def _take_home(self, fact: Fact) -> Fact:
        """Have a fact back in the member's own file, its earlier wordings and what was done to them too."""
        family = self._acts["shared"]
        with self._ledger.together():
            self._do("unshare", fact)
            earlier = self._wordings(fact, self._ledger.rows["shared"].where)
            for each in [fact, *(each for each in earlier if each.said_by == self._member_id)]:
                self._acts["private"].keep(family.take(each.id))
                if each.id != fact.id:
                    self._ledger.move(each, "private")
        return self.get(fact.id)

    def _remove(self, fact: Fact) -> None:
        with self._ledger.together():
            for said in self._ledger.same(fact):
                for each in [*self._wordings(said, self._ledger.where), said]:
                    if each.said_by == self._member_id:
                        self._do("purge", each)
                        for acts in self._acts.values():
                            acts.clear(each.id)

    def _wordings(self, fact: Fact, where: Callable[[Which, str], FoundFacts]) -> FoundFacts:
        """The earlier wordings of a fact, which people have changed."""
        found: FoundFacts = []
        waiting = [fact]
        while waiting:
            before = [each for each in where("replaced_by", waiting.pop().id) if each.forgotten_as == "edited"]
            found += before
            waiting += before
        return found

    def _checked(self, text: str) -> str:
        clean = storable(text).strip()
        if not folded_words(clean):
            raise FactEmpty()
        if len(clean) > self._settings.fact_characters:
            raise FactTooLong(length=len(clean), limit=self._settings.fact_characters)
        return clean


def _holds(fact: Fact, wanted: list[str]) -> bool:
    words = folded_words(f"{fact.subject} {fact.text}")
    return all(any(word.startswith(part) for word in words) for part in wanted)
