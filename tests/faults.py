"""Faults at exact places of real processes: the Nth call that changes a folder is its process's last, or fails."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

SOURCE = Path(__file__).with_suffix(".c")
KILL = 0


@dataclass(frozen=True)
class Faults:
    """``under``: the folder that is watched. ``log``: where each call that was counted is written, by number."""

    library: Path
    under: Path
    log: Path

    def environment(self, process: str, at: int = 0, error: int = KILL) -> dict[str, str]:
        """This process's own environment, in which call ``at`` of the processes with ``process`` in their command line
        kills them, or fails with ``error`` (an errno), as do all that follow; 0: they are counted and go on.
        """
        return {
            **os.environ,
            "LD_PRELOAD": str(self.library),
            "FAULTS_UNDER": str(self.under),
            "FAULTS_IN": process,
            "FAULTS_AT": str(at),
            "FAULTS_WITH": str(error),
            "FAULTS_LOG": str(self.log),
        }

    def calls(self) -> list[str]:
        """What was counted since the last time, as "write /home/of/it"."""
        if not self.log.exists():
            return []
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        self.log.unlink()
        return [line.partition(" ")[2] for line in lines]


def fault_library(folder: Path) -> Path:
    """The library that makes them, compiled into ``folder``; without Linux and a compiler the test is skipped."""
    compiler = shutil.which("cc")
    if sys.platform != "linux" or compiler is None:
        pytest.skip("needs Linux and a C compiler")
    library = folder / "faults.so"
    command = [compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(SOURCE), "-ldl"]
    subprocess.run(command, check=True, capture_output=True)
    return library
