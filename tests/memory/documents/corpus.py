"""The documents whose answers are known, and how a reading of them is held against those."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from memory.documents.formats import Format, format_of
from memory.documents.found import Entity, Extraction, Said
from memory.graph.terms import SYMMETRIC
from memory.text import fold

FOLDER = Path(__file__).parents[1] / "data" / "documents"
LETTERS = {"p": "person", "c": "company", "j": "project", "a": "account", "l": "place", "e": "event"}


@dataclass(frozen=True)
class Document:
    """``says`` and ``there``: what a careful person takes from it; ``name``: with the folder, as es/carta.txt."""

    name: str
    form: Format
    content: bytes
    says: frozenset[tuple[str, ...]]
    there: frozenset[tuple[str, str]]


def documents(answers: str) -> Iterator[Document]:
    """Those of one file of answers."""
    told = yaml.safe_load((FOLDER / answers).read_text(encoding="utf-8"))
    for name, answer in told.items():
        says = {_statement(line) for line in answer["says"]}
        ends = {part for line in answer["says"] for part in line.split(" | ")[::2] if part[1:2] == ":"}
        there = {_node(part) for part in (*ends, *answer.get("also", ()))}
        form = format_of(Path(name))
        assert form is not None
        yield Document(name, form, content_of(name), frozenset(says), frozenset(there))


def content_of(name: str) -> bytes:
    """The bytes of a document; PDF and Word are made of the text that they hold."""
    path = FOLDER / name
    if path.exists():
        return path.read_bytes()
    text = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    return pdf(text.split("----\n")) if name.endswith(".pdf") else docx(text)


def pdf(pages: list[str]) -> bytes:
    """A PDF with the lines of each page, in the encoding that Helvetica has of its own (PDF 32000, annex D)."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", ""]
    kids = []
    font = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
    for page in pages:
        lines = [line.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)") for line in page.splitlines()]
        drawn = "BT /F1 11 Tf 50 800 Td 14 TL " + " ".join(f"({line}) Tj T*" for line in lines) + " ET"
        length = len(drawn.encode("cp1252"))
        objects.append(f"<< /Length {length} >>\nstream\n{drawn}\nendstream")
        kids.append(f"{len(objects) + 1} 0 R")
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 "
            f"{font} >> >> /Contents {len(objects)} 0 R >>"
        )
    objects[1] = f"<< /Type /Pages /Count {len(kids)} /Kids [{' '.join(kids)}] >>"
    out, places = io.BytesIO(), []
    out.write(b"%PDF-1.4\n")
    for number, body in enumerate(objects, 1):
        places.append(out.tell())
        out.write(f"{number} 0 obj\n{body}\nendobj\n".encode("cp1252"))
    table = out.tell()
    out.write(f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode())
    out.write("".join(f"{place:010d} 00000 n \n" for place in places).encode())
    out.write(f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n".encode())
    return out.getvalue()


def docx(text: str) -> bytes:
    """A Word document with a paragraph a line, and a table of the lines with bars."""
    import docx as word

    document, rows = word.Document(), []
    for line in [*text.splitlines(), ""]:
        if line.startswith("|"):
            rows.append([cell.strip() for cell in line.strip("|").split("|")])
            continue
        if rows:
            table = document.add_table(len(rows), len(rows[0]))
            for row, cells in zip(table.rows, rows, strict=True):
                for cell, value in zip(row.cells, cells, strict=True):
                    cell.text = value
            rows = []
        if line:
            document.add_paragraph(line)
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


@dataclass
class Score:
    """Of several documents: how much of what was found is right, and how much of what is there was found."""

    right: int = 0
    wrong: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    nodes_right: int = 0
    nodes_wrong: list[str] = field(default_factory=list)

    def add(self, document: Document, found: Extraction) -> None:
        said = {statement(each) for each in found.said}
        self.right += len(said & document.says)
        self.wrong += [f"{document.name}: {' | '.join(each)}" for each in sorted(said - document.says)]
        self.missed += [f"{document.name}: {' | '.join(each)}" for each in sorted(document.says - said)]
        there = {(each.entity.kind, fold(each.entity.name)) for each in found.named}
        self.nodes_right += len(there & document.there)
        self.nodes_wrong += [f"{document.name}: {kind}:{name}" for kind, name in sorted(there - document.there)]

    @property
    def precision(self) -> float:
        return self.right / (self.right + len(self.wrong))

    @property
    def recall(self) -> float:
        return self.right / (self.right + len(self.missed))

    @property
    def node_precision(self) -> float:
        return self.nodes_right / (self.nodes_right + len(self.nodes_wrong))


def statement(said: Said) -> tuple[str, ...]:
    """A statement in the form in which answers are written."""
    last = _end(said.object) if isinstance(said.object, Entity) else fold(said.object)
    return _ordered(_end(said.subject), said.predicate, last)


def _end(entity: Entity) -> str:
    return f"{entity.kind}:{fold(entity.name)}"


def _ordered(first: str, predicate: str, last: str) -> tuple[str, ...]:
    if predicate in SYMMETRIC:
        first, last = sorted((first, last))
    return first, predicate, last


def _statement(line: str) -> tuple[str, ...]:
    first, predicate, last = line.split(" | ")
    obj = ":".join(_node(last)) if last[1:2] == ":" and last[0] in LETTERS else fold(last)
    return _ordered(":".join(_node(first)), predicate, obj)


def _node(part: str) -> tuple[str, str]:
    return LETTERS[part[0]], fold(part[2:])
