"""The kinds of nodes, and the relations between them, by the one name that each has in code, database and commands."""

from __future__ import annotations

from typing import Final, Literal, get_args

Kind = Literal["person", "company", "project", "account", "place", "event"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

# Between two nodes: which kinds may stand before it, and which after it.
RELATIONS: Final[dict[str, tuple[frozenset[str], frozenset[str]]]] = {
    "works_at": (frozenset({"person"}), frozenset({"company"})),
    "works_on": (frozenset({"person"}), frozenset({"project"})),
    "leads": (frozenset({"person"}), frozenset({"project"})),
    "founded": (frozenset({"person"}), frozenset({"company"})),
    "client_of": (frozenset({"person", "company"}), frozenset({"company", "project"})),
    "supplier_of": (frozenset({"company"}), frozenset({"company"})),
    "lives_in": (frozenset({"person"}), frozenset({"place"})),
    "born_in": (frozenset({"person"}), frozenset({"place"})),
    "located_in": (frozenset({"company", "project", "place", "event"}), frozenset({"place"})),
    "married_to": (frozenset({"person"}), frozenset({"person"})),
    "parent_of": (frozenset({"person"}), frozenset({"person"})),
    "sibling_of": (frozenset({"person"}), frozenset({"person"})),
    "holds": (frozenset({"person", "company"}), frozenset({"account"})),
    "at_bank": (frozenset({"account"}), frozenset({"company"})),
    "organises": (frozenset({"person"}), frozenset({"event"})),
    "attends": (frozenset({"person"}), frozenset({"event"})),
}
# The same said from either end: one of the two is kept.
SYMMETRIC: Final = frozenset({"married_to", "sibling_of"})

# Of one node alone: what it is told by.
PROPERTIES: Final[dict[str, frozenset[str]]] = {
    "email": frozenset({"person", "company"}),
    "phone": frozenset({"person", "company"}),
    "birthday": frozenset({"person"}),
    "role": frozenset({"person"}),
    "address": frozenset({"person", "company"}),
    "website": frozenset({"person", "company"}),
    "budget": frozenset({"project"}),
    "deadline": frozenset({"project"}),
    "starts": frozenset({"event"}),
}
