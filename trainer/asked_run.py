"""What a process that makes a model of one's own is asked for: which run, and what is changed of it."""

from __future__ import annotations

import argparse
from typing import Final

# The exit code of one that was asked to stop, and did at a place from which the same goes on.
INTERRUPTED: Final = 130


def run_parser(module: str) -> argparse.ArgumentParser:
    """Of ``python -m module RUN [key.path=value …]``: ``run``, its name or the path of its file, and ``changes``."""
    parser = argparse.ArgumentParser(prog=f"python -m {module}")
    parser.add_argument("run", metavar="RUN")
    parser.add_argument("changes", metavar="key.path=value", nargs="*")
    return parser
