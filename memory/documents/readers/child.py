"""``python -m memory.documents.readers.child``: reads documents for the process that started it, one after another.

A broken file may take all memory and all time there is: here it takes this process alone, which is given little of
either. Asked on stdin: a line of JSON (format, bytes, and the limits), then so many bytes; answered on stdout with a
line of JSON, ``reading`` or ``error``. It opens no file.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from typing import IO, Any

from memory.documents.errors import DocumentProblem, DocumentTooHard
from memory.documents.formats import Format
from memory.documents.found import Reading
from memory.documents.readers.cards import read_calendar, read_cards
from memory.documents.readers.pages import read_docx, read_pdf
from memory.documents.readers.plain import decoded, read_markdown, read_text
from memory.documents.readers.records import read_json, read_yaml
from memory.documents.readers.travel import as_json

_MB = 1_000_000


def read(form: Format, content: bytes, *, characters: int, unpacked_mb: int) -> Reading:
    """What a document holds, cut at so many characters. Raises DocumentProblem."""
    match form:
        case "text":
            return read_text(content)
        case "markdown":
            return read_markdown(content)
        case "pdf":
            return read_pdf(content, characters)
        case "docx":
            return read_docx(content, unpacked_mb)
        case "yaml" | "json" | "ics" | "vcf":
            readers = {"yaml": read_yaml, "json": read_json, "ics": read_calendar, "vcf": read_cards}
            return readers[form](*decoded(content, form))


def serve(asked: IO[bytes], answered: IO[bytes]) -> None:
    """Read what is asked for until nothing more is asked."""
    while line := asked.readline():
        wish: dict[str, Any] = json.loads(line)
        content = asked.read(wish["bytes"])
        limits = {name: wish[name] for name in ("characters", "unpacked_mb")}
        try:
            told = {"reading": as_json(read(wish["format"], content, **limits))}
        except DocumentProblem as error:
            told = {"error": {"code": error.code, "facts": error.facts}}
        except (MemoryError, RecursionError):
            told = {"error": {"code": DocumentTooHard.code, "facts": {"seconds": wish["seconds"]}}}
        answered.write(json.dumps(told).encode() + b"\n")
        answered.flush()


def main() -> None:
    """Begin with the memory that the first argument allows, in megabytes."""
    limit = int(sys.argv[1]) * _MB
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    answered = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # What a library prints must not be taken for an answer.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    serve(sys.stdin.buffer, answered)


if __name__ == "__main__":
    main()
