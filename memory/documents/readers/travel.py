"""A reading on its way between two processes, as JSON."""

from __future__ import annotations

from typing import Any

from memory.documents.found import Listing, Reading, Record, Remark, Scalar, Tree
from memory.text import storable


def as_json(reading: Reading) -> dict[str, Any]:
    """What ``from_json`` makes the same reading of, but for lone surrogates: no database takes those.

    Files have them, escaped in JSON and YAML, or made by what reads a PDF.
    """
    return {
        "text": storable(reading.text),
        "pages": reading.pages,
        "trees": [_tree(tree) for tree in reading.trees],
        "prose": reading.prose,
        "remarks": [[remark.code, remark.facts] for remark in reading.remarks],
    }


def from_json(told: dict[str, Any]) -> Reading:
    """The reading that ``as_json`` has written."""
    trees = tuple(_grown(tree) for tree in told["trees"])
    remarks = tuple(Remark(code, facts) for code, facts in told["remarks"])
    return Reading(told["text"], tuple(told["pages"]), trees, told["prose"], remarks)


def _tree(tree: Tree) -> Any:
    match tree:
        case Scalar():
            return [storable(tree.value), tree.start, tree.end]
        case Record():
            return {"record": [[storable(key), _tree(value)] for key, value in tree.entries]}
        case Listing():
            return {"listing": [_tree(item) for item in tree.items]}


def _grown(told: Any) -> Tree:
    if isinstance(told, list):
        return Scalar(*told)
    if "record" in told:
        return Record(tuple((key, _grown(value)) for key, value in told["record"]))
    return Listing(tuple(_grown(item) for item in told["listing"]))
