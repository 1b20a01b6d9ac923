"""A household as a person at a terminal has it: the real `enlace` in processes of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.project import ROOT

ENLACE = str(Path(sys.executable).parent / "enlace")
LESSONS = ROOT / "benchmarks" / "data" / "lessons24.jsonl"


def start(*arguments: str) -> subprocess.Popen[str]:
    """`enlace ARGUMENTS`, begun and not waited for."""
    return subprocess.Popen(
        [ENLACE, *arguments],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


def enlace(*arguments: str, code: int = 0, timeout: float = 120) -> str:
    """What `enlace ARGUMENTS` printed; it must end with ``code``."""
    process = start(*arguments)
    try:
        out, err = process.communicate(timeout=timeout)
    finally:
        process.kill()
    assert process.returncode == code, f"enlace {arguments} ended with {process.returncode}\n{out}\n{err}"
    return out


def enlace_json(*arguments: str, code: int = 0, timeout: float = 120) -> Any:
    """The JSON that `enlace ARGUMENTS --json` printed."""
    return json.loads(enlace(*arguments, "--json", code=code, timeout=timeout))


def weights_answer(question: str) -> dict[str, Any]:
    """What the weights alone say, greedily."""
    answer: dict[str, Any] = enlace_json("ask", question, "--no-memory", "--temperature", "0")
    return answer


def weights_answers(questions: Sequence[str]) -> list[str]:
    """What the weights alone say to each, greedily."""
    return [str(weights_answer(question)["answer"]) for question in questions]
