"""Headers of a GGUF file changed at random, and what becomes of them: refused by us, or loaded by llama.cpp in a child.

``python -m tests.engine.mutants COPY`` is the child: for each mutant on its standard input it writes what it did.
"""

from __future__ import annotations

import json
import os
import random
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from engine.errors import ModelBroken
from engine.gguf import check_gguf
from tests.project import ROOT

Change = list[tuple[int, str]]  # (place, bytes in hex)
INTERESTING = (0, 1, 2, 3, 7, 8, 31, 32, 127, 128, 255, 256, 1 << 16, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 63)


@dataclass(frozen=True)
class Fate:
    """What became of a mutant: ``refused`` by check_gguf, ``declined`` by llama.cpp, ``loaded``, ``died``, ``hung``."""

    change: Change
    end: str
    said: str


class Header:
    """Where the fields of a file's header are, read leniently: only of files that are known to be sound."""

    def __init__(self, path: Path) -> None:
        import gguf

        reader = gguf.GGUFReader(path)
        self.fields: list[tuple[int, int]] = [(0, 4), (4, 8), (8, 16), (16, 24)]
        self.strings: list[tuple[int, int]] = []
        for field in reader.fields.values():
            if field.offset < 24:
                continue
            place = field.offset
            for index, part in enumerate(field.parts):
                span = (place, place + part.nbytes)
                # Of an array's thousands of parts, those at the beginning are fields like any other.
                (self.fields if index < 12 else self.strings).append(span)
                place += part.nbytes
        self.tensors: list[tuple[int, int]] = []
        for tensor in reader.tensors:
            place = tensor.field.offset
            for part in tensor.field.parts:
                self.tensors.append((place, place + part.nbytes))
                place += part.nbytes
        self.end = int(reader.data_offset)

    def mutants(self, content: bytes, count: int, seed: int) -> Iterator[Change]:
        """``count`` ways to change ``content``, which begins with the header."""
        chance = random.Random(seed)
        for _ in range(count):
            yield [self._change(content, chance) for _ in range(chance.choice((1, 1, 1, 2, 4)))]

    def _change(self, content: bytes, chance: random.Random) -> tuple[int, str]:
        kind = chance.random()
        if kind < 0.1:
            start, end = chance.randrange(self.end - 8), 0
            return start, bytes(chance.randrange(256) for _ in range(chance.choice((1, 2, 4, 8)))).hex()
        where = self.fields if kind < 0.55 else self.tensors if kind < 0.85 else self.strings
        start, end = chance.choice(where)
        start += chance.randrange(max(1, end - start)) if chance.random() < 0.3 else 0
        size = max(1, min(end - start, chance.choice((1, 4, 8, 8))))
        how = chance.random()
        if how < 0.4:
            value = chance.choice(INTERESTING) + chance.choice((0, 0, 0, -1, 1))
            return start, (value % (1 << 64)).to_bytes(8, "little")[:size].hex()
        if how < 0.6:
            return start, bytes([content[start] ^ (1 << chance.randrange(8))]).hex()
        if how < 0.8:
            other, _ = chance.choice(where)
            return start, content[other : other + size].hex()
        return start, bytes(chance.randrange(256) for _ in range(size)).hex()


def fates(copy: Path, changes: Sequence[Change], patience_s: float) -> list[Fate]:
    """What becomes of each mutant of ``copy``, a file that is changed and changed back."""
    ends: list[Fate] = []
    reach = max((place + len(content) // 2 for change in changes for place, content in change), default=0)
    with copy.open("r+b", buffering=0) as file:
        sound = file.read(reach)
    while len(ends) < len(changes):
        with copy.open("r+b", buffering=0) as file:
            file.write(sound)  # a child that died did not change it back
        # A file, because a pipe that nobody empties would stop a child that complains much.
        with tempfile.TemporaryFile() as complaints:
            child = subprocess.Popen(
                [sys.executable, "-m", "tests.engine.mutants", str(copy)],
                cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=complaints, bufsize=0,
                env=os.environ | {"GGML_NO_BACKTRACE": "1"},
            )  # fmt: skip
            hung = _feed(child, changes[len(ends) :], patience_s, ends)
            code = child.wait()
            if len(ends) < len(changes) and not hung:
                complaints.seek(0)
                said = complaints.read().decode(errors="replace").strip().splitlines()
                ends.append(Fate(changes[len(ends)], "died", f"{code}: {' | '.join(said[-3:])}"))
    return ends


def _feed(child: subprocess.Popen[bytes], changes: Sequence[Change], patience_s: float, ends: list[Fate]) -> bool:
    """Give ``child`` one mutant after the other and note its answers, until it dies, or hangs: then True."""
    assert child.stdin is not None
    assert child.stdout is not None
    with child.stdout, child.stdin:
        for change in changes:
            try:
                child.stdin.write(json.dumps(change).encode() + b"\n")
            except BrokenPipeError:
                return False
            told = _line(child, patience_s)
            if told is None:
                child.kill()
                ends.append(Fate(change, "hung", ""))
                return True
            if not told:
                return False
            ends.append(Fate(change, *json.loads(told)))
    return False


def _line(child: subprocess.Popen[bytes], patience_s: float) -> bytes | None:
    """A line from ``child``; empty at its end, None where it has computed for too long without one.

    Its own time counts, so that a machine that does much else makes nothing hang; sleeping counts a tenth.
    """
    assert child.stdout is not None
    handle, line, began, spent_before = child.stdout.fileno(), b"", time.monotonic(), _spent(child.pid)
    while not line.endswith(b"\n"):
        if not select.select([handle], [], [], 1)[0]:
            if max(_spent(child.pid) - spent_before, (time.monotonic() - began) / 10) > patience_s:
                return None
            continue
        piece = os.read(handle, 65536)
        if not piece:
            return b""
        line += piece
    return line


def _spent(pid: int) -> float:
    """Seconds of processor time that a child has taken."""
    try:
        times = psutil.Process(pid).cpu_times()
    except psutil.Error:
        return 0.0
    return float(times.user + times.system)


def main(copy: Path) -> None:
    """Read mutants, write their ends."""
    from engine.library import library

    library()
    # Native code may print; what it prints is not an answer of ours.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    with copy.open("r+b", buffering=0) as file:
        for line in sys.stdin:
            change = json.loads(line)
            kept = []
            for place, content in change:
                file.seek(place)
                kept.append((place, file.read(len(content) // 2)))
                file.seek(place)
                file.write(bytes.fromhex(content))
            end = _try(copy)
            for place, content in reversed(kept):
                file.seek(place)
                file.write(content)
            answers.write(json.dumps(end) + "\n")
            answers.flush()


def _try(copy: Path) -> tuple[str, str]:
    """Check it as the engine does and, if it is accepted, give it to llama.cpp."""
    try:
        check_gguf(copy)
    except ModelBroken as error:
        return "refused", str(error.facts["reason"])
    return load_and_compute(copy)


def load_and_compute(path: Path) -> tuple[str, str]:
    """Load ``path`` unchecked, as the engine does, and have a few tokens computed."""
    from engine.errors import EngineError
    from engine.native import Context, ContextShape, Model
    from engine.vocabulary import Vocabulary

    try:
        model = Model(path)
        try:
            vocabulary = Vocabulary(model)
            ids = vocabulary.tokenize("Hola, ¿qué tal?\n", special=False) or [0]
            context = Context(model, ContextShape(64, 1, 32, 1, 1, True))
            try:
                context.decode([(token, place, 0, place == 0) for place, token in enumerate(ids[:16])])
                context.logits(0)
            finally:
                context.close()
        finally:
            model.close()
    except EngineError as error:
        return "declined", str(error)
    except UnicodeError as error:
        return "declined", f"unicode {error}"
    return "loaded", ""


if __name__ == "__main__":
    main(Path(sys.argv[1]))
