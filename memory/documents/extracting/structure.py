"""What records say: contacts, notes in YAML, calendars, cards, tables, and lines of "key: value"."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable
from typing import Final

from memory.documents.extracting.dates import day
from memory.documents.extracting.findings import Findings
from memory.documents.extracting.names import (
    emails,
    iban,
    is_company,
    is_role,
    key_of,
    phones,
    phrases_of,
    synonyms,
)
from memory.documents.found import Entity, Listing, Record, Scalar, Tree
from memory.graph.terms import Kind
from memory.text import fold

_LONGEST_NAME: Final = 80
_LONGEST_VALUE: Final = 120
_OF_A_PERSON: Final = frozenset({
    "first_name", "last_name", "birthday", "role", "company", "spouse", "email", "phone", "city", "parent", "child",
    "sibling",
})  # fmt: skip

Fields = dict[str, list[Scalar]]
# What follows of somebody or something that a field names: subject, predicate, object.
Statement = Callable[[Entity], tuple[Entity, str, Entity]]


class Structure:
    """Reads the trees of one document into ``findings``."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._records = 0

    def read(self, tree: Tree, hint: Kind | None = None, project: Entity | None = None) -> None:
        """``hint``: what each record is where it does not say so; ``project``: whose team it belongs to."""
        if isinstance(tree, Listing):
            for item in tree.items:
                self.read(item, hint, project)
        elif isinstance(tree, Record):
            self._record(tree, hint, project)
        elif hint and (entity := self._entity(hint, tree)) and project and hint == "person":
            self._say(entity, "works_on", project, tree)

    def _record(self, record: Record, hint: Kind | None, project: Entity | None) -> None:
        fields, below = _sorted(record)
        self._records += 1
        main = self._main(fields, hint)
        own = self._project(fields, main, hint)
        if main is not None:
            entity, scalar = main
            self._about(entity, scalar, fields)
            if project and entity.kind == "person":
                self._say(entity, "works_on", project, scalar)
        if own is not None:
            self._about_project(own, fields, main[0] if main else None)
        for kind, tree in below:
            # Whoever is in the list of a record without a project is on no team.
            self.read(tree, kind, own)

    def _main(self, fields: Fields, hint: Kind | None) -> tuple[Entity, Scalar] | None:
        """Whom or what a record is about, but for a project."""
        named = _joined(fields)
        if "event" in fields:
            return self._made("event", fields["event"][0])
        if "account" in fields and not (named or fields.get("company")):
            return self._made("account", fields["account"][0])
        if named and hint == "project":
            return None
        if named and (hint == "company" or (hint is None and is_company(named.value))):
            return self._made("company", named)
        if named and hint == "place":
            return self._made("place", named)
        if named and (hint == "person" or _OF_A_PERSON & fields.keys()):
            return self._made("person", named)
        if not named and fields.get("company"):
            return self._made("company", fields["company"][0])
        return None

    def _project(self, fields: Fields, main: tuple[Entity, Scalar] | None, hint: Kind | None) -> Entity | None:
        named = fields.get("project") or (fields.get("name", []) if hint == "project" and main is None else [])
        return self._entity("project", named[0]) if named else None

    def _about(self, entity: Entity, scalar: Scalar, fields: Fields) -> None:
        match entity.kind:
            case "person":
                self._about_person(entity, scalar, fields)
            case "company":
                self._properties(entity, fields, "email", "phone", "address", "website")
                self._all(fields, ("city", "place"), "place", lambda place: (entity, "located_in", place))
                self._all(fields, ("contact",), "person", lambda person: (person, "works_at", entity))
                self._all(fields, ("client",), None, lambda client: (client, "client_of", entity))
                self._all(fields, ("account",), "account", lambda account: (entity, "holds", account))
            case "account":
                self._all(fields, ("holder",), None, lambda holder: (holder, "holds", entity))
                self._all(fields, ("bank",), "company", lambda bank: (entity, "at_bank", bank))
            case "event":
                self._properties(entity, fields, "starts")
                self._all(fields, ("place",), "place", lambda place: (entity, "located_in", place))

    def _about_person(self, entity: Entity, scalar: Scalar, fields: Fields) -> None:
        self._properties(entity, fields, "email", "phone", "birthday", "role", "address", "website")
        self._all(fields, ("company",), "company", lambda company: (entity, "works_at", company))
        self._all(fields, ("city",), "place", lambda place: (entity, "lives_in", place))
        self._all(fields, ("spouse",), "person", lambda person: (entity, "married_to", person))
        self._all(fields, ("sibling",), "person", lambda person: (entity, "sibling_of", person))
        self._all(fields, ("parent",), "person", lambda person: (person, "parent_of", entity))
        self._all(fields, ("child",), "person", lambda person: (entity, "parent_of", person))
        self._all(fields, ("account",), "account", lambda account: (entity, "holds", account))
        self._all(fields, ("project",), "project", lambda project: (entity, "works_on", project))
        self._all(fields, ("organiser",), "event", lambda event: (entity, "organises", event))
        self._all(fields, ("attendee",), "event", lambda event: (entity, "attends", event))

    def _about_project(self, project: Entity, fields: Fields, main: Entity | None) -> None:
        self._properties(project, fields, "budget", "deadline")
        self._all(fields, ("lead",), "person", lambda person: (person, "leads", project))
        self._all(fields, ("client",), None, lambda client: (client, "client_of", project))
        if main is None:
            self._all(fields, ("city", "place"), "place", lambda place: (project, "located_in", place))

    def _all(self, fields: Fields, names: tuple[str, ...], kind: Kind | None, statement: Statement) -> None:
        for name in names:
            for scalar in fields.get(name, ()):
                entity = self._entity(kind or _whose(scalar.value), scalar)
                if entity is not None:
                    subject, predicate, obj = statement(entity)
                    self._say(subject, predicate, obj, scalar)

    def _properties(self, entity: Entity, fields: Fields, *names: str) -> None:
        for name in names:
            for scalar in fields.get(name, ()):
                if (value := property_of(name, scalar.value)) is not None:
                    self._say(entity, name, value, scalar)

    def _made(self, kind: Kind, scalar: Scalar) -> tuple[Entity, Scalar] | None:
        entity = self._entity(kind, scalar, self._records)
        return (entity, scalar) if entity else None

    def _entity(self, kind: Kind, scalar: Scalar, record: int | None = None) -> Entity | None:
        name = name_of(kind, scalar.value)
        if name is None:
            return None
        # An account and a place are what they are called, however many records speak of them.
        entity = Entity(kind, name, None if kind in ("account", "place", "project") else record)
        self._findings.name(entity, scalar.start, scalar.end)
        return entity

    def _say(self, subject: Entity, predicate: str, obj: Entity | str, scalar: Scalar) -> None:
        self._findings.say(subject, predicate, obj, *self._findings.line(scalar.start, scalar.end))


def name_of(kind: Kind, value: str) -> str | None:
    """The name that a value gives to one of this kind; None where it is no name."""
    name = " ".join(value.split()).strip("*_`\"'«»“”")
    if kind == "account":
        return iban(name)
    words = fold(name).split()
    if not words or len(name) > _LONGEST_NAME or len(words) > (12 if kind == "event" else 7):
        return None
    if is_instruction(name) or emails(name) or iban(name) or not re.match(r"[\w¿¡]", name):
        return None
    if kind in ("person", "place", "company") and not (name[0].isupper() or name[0].isdigit() or not name[0].isascii()):
        return None
    if kind == "person" and (
        re.search(r"\d", name) or len(words) > 6 or set(words) & {"ninguno", "none", "nobody", "nadie"}
    ):
        return None
    return name


def property_of(name: str, value: str) -> str | None:
    """A property's value in the one way in which it is kept; None where the text is no such value."""
    value = " ".join(value.split())
    if not value or len(value) > _LONGEST_VALUE or is_instruction(value):
        return None
    if name == "email":
        found = emails(value)
        return found[0][2] if found else None
    if name == "phone":
        found = phones(value)
        return found[0][2] if found else None
    if name == "birthday":
        return day(value)
    if name == "website":
        plain = re.sub(r"^https?://(?:www\.)?|/$", "", value)
        return plain.lower() if re.fullmatch(r"(?:[\w-]+\.)+[A-Za-z][\w-]+(?:/\S*)?", plain) else None
    if name == "role":
        return value.lower() if is_role(value) or re.fullmatch(r"[^\W\d_]+(?: [^\W\d_]+){0,3}", value) else None
    if name == "deadline":
        return day(value) or (value if re.search(r"\d", value) else None)
    if name == "budget":
        return value if re.search(r"\d", value) else None
    return value


def is_instruction(text: str) -> bool:
    """Whether a text asks for something to be done; of such a text nothing is taken."""
    words = " ".join(["", *re.findall(r"[^\W_]+", fold(text)), ""])
    return any(f" {phrase} " in words for phrase in phrases_of("instructions"))


def _whose(name: str) -> Kind:
    return "company" if is_company(name) and not set(fold(name).split()) & {"familia", "family"} else "person"


def _joined(fields: Fields) -> Scalar | None:
    """A person's or thing's whole name, of its parts where it is written in parts."""
    first, last = fields.get("first_name", fields.get("name", [])), fields.get("last_name", [])
    if not first:
        return None
    if not last or fold(last[0].value) in fold(first[0].value):
        return first[0]
    return Scalar(f"{first[0].value} {last[0].value}", first[0].start, first[0].end)


def _sorted(record: Record) -> tuple[Fields, list[tuple[Kind | None, Tree]]]:
    """The values by the fields that they fill, and the records below with what each of them is."""
    fields: Fields = defaultdict(list)
    below: list[tuple[Kind | None, Tree]] = []
    kinds: dict[str, Kind] = synonyms("lists")  # type: ignore[assignment]
    names = synonyms("fields")
    for written, value in record.entries:
        key = key_of(written)
        listed, name = kinds.get(key), names.get(key)
        items = value.items if isinstance(value, Listing) else (value,)
        plain = [item for item in items if isinstance(item, Scalar)]
        if name and (plain or name in ("phone", "email")):
            inner = [each for item in items if isinstance(item, Record) for each in _values(item)]
            fields[name] += plain + inner
        elif listed or len(plain) < len(items):
            below.append((listed, value))
    return fields, below


def _values(record: Record) -> list[Scalar]:
    """Of a number or an address that is written with its kind: what it is itself."""
    names = synonyms("fields")
    return [scalar for key, scalar in record.scalars() if names.get(key_of(key)) in ("number", "phone", "email")]
