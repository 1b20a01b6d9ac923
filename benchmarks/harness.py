"""What every benchmark's command does: options, a clear sentence when a side fails, the result, the exit code."""

from __future__ import annotations

import argparse
import contextlib
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

from benchmarks import machine
from benchmarks.errors import MeasurementFailed, PeerMissing
from benchmarks.plan import Plan, load_plan
from benchmarks.rows import Row, as_json, as_table

Found = TypeVar("Found")
Part = Callable[[Plan], list[Row]]


def main(name: str, about: str, parts: Mapping[str, Part], arguments: list[str] | None = None) -> int:
    """Measure the parts of one benchmark and print the rows. Exit code: 0 every bound held, 1 not, 130 interrupted."""
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks.{name}", description=about)
    parser.add_argument("--quick", action="store_true", help="a rough answer in a few minutes")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--only", choices=sorted(parts), action="append", help="measure this part alone; repeatable")
    options = parser.parse_args(arguments)
    # A termination unwinds as Ctrl-C does, so that homes are removed and engines stopped.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    plan = load_plan(quick=options.quick)
    described = machine.describe() | {"plan": "quick" if options.quick else "full"}
    rows: list[Row] = []
    failed = False
    for part in options.only or parts:
        progress(f"{name}: {part} …")
        try:
            rows += parts[part](plan)
        except MeasurementFailed as error:
            failed = True
            print(f"{name}: {part} was not measured. {error}", file=sys.stderr)
        except KeyboardInterrupt:
            print("Stopped; what was measured until now:", file=sys.stderr)
            print(as_json(described, rows) if options.json else as_table(described, rows))
            return 130
    print(as_json(described, rows) if options.json else as_table(described, rows))
    return 1 if failed or any(each.ok is False for each in rows) else 0


def progress(sentence: str) -> None:
    """Say on standard error what is being measured: the rows on standard output stay clean."""
    print(sentence, file=sys.stderr, flush=True)


@contextlib.contextmanager
def without_peer(notes: list[str]) -> Iterator[None]:
    """A block that may end early for want of a peer; the reason is added to ``notes``."""
    try:
        yield
    except PeerMissing as error:
        notes.append(str(error))
        progress(str(error))
