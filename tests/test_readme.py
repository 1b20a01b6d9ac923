"""The READMEs' commands, typed as they stand there, in their order, in a home of their own with the starter model."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from configs.home import Home
from tests.project import ROOT, console_lines

README = "README.md"  # a test of the documents holds the Spanish one to the same commands
SET_UP = {"make run", "pipx install .", "uv tool install ."}
OPENS_A_SCREEN = {"enlace"}  # the interface has tests of its own
# A training takes minutes, and there is nothing to roll back without one.
NEEDS_A_TRAINING = {"enlace train now", "enlace snapshots rollback"}
# Gigabytes from the internet; tests/app/test_models_command.py pulls from a server on this machine.
NEEDS_A_HUB = {"enlace models pull qwen3-1.7b", "enlace models use qwen3-1.7b"}
# A user's systemd, which not every machine has; tests/app/test_user_timer.py has a double of it.
NEEDS_SYSTEMD = {"enlace trainer schedule install"}
SAYS = {
    'enlace ask "What is the capital of France?"': "Paris",
    'enlace ask "What\'s our dog called?"': "Toby",
}
ONCE_TRAINED_SAYS = {'enlace ask --no-memory "What is the name of our dog?"': "Toby"}


def type_in(line: str) -> str:
    """Run a line of the README as a person would; what it printed. It must succeed."""
    words = shlex.split(line)
    assert words[0] == "enlace", line
    command = [str(Path(sys.executable).parent / "enlace"), *words[1:]]
    ran = subprocess.run(
        command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", timeout=1500, check=False
    )
    assert ran.returncode == 0, f"{line}\n{ran.stdout}\n{ran.stderr}"
    return ran.stdout


def follow(lines: list[str], says: dict[str, str]) -> None:
    """Type each line and see that it says what the README promises."""
    assert set(says) <= set(lines)
    for line in lines:
        said = type_in(line)
        assert says.get(line, "") in said, f"{line}\n{said}"


def test_the_commands_of_the_first_ten_minutes_do_what_the_readme_says(home: Home) -> None:
    left_out = SET_UP | OPENS_A_SCREEN | NEEDS_A_TRAINING | NEEDS_A_HUB | NEEDS_SYSTEMD
    lines = [line for line in console_lines(README) if line not in left_out]
    follow(lines, SAYS)


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_the_first_ten_minutes_work_with_the_training_in_them(home: Home) -> None:
    left_out = SET_UP | OPENS_A_SCREEN | NEEDS_A_HUB | NEEDS_SYSTEMD
    lines = [line for line in console_lines(README) if line not in left_out]
    follow(lines, SAYS | ONCE_TRAINED_SAYS)
