"""The report for people: a page that shows words as they are, a picture for light and dark, the same in a terminal."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from app.catalogue import LANGUAGES, Catalogue
from app.interface.themes import DARK, LIGHT
from app.report.drawing import running_mean, ticks
from app.report.files import leave_report
from app.report.picture import WIDTH
from memory.runs import Run
from tests.app.conftest import Run as RunCommand
from tests.app.report.conftest import CHECKS, Runs, answer

SVG = "{http://www.w3.org/2000/svg}"


def written(runs: Runs, run: Run, language: str = "en") -> Path:
    """The folder with the report of ``run``."""
    return leave_report(runs.session.home, run, Catalogue(language))[1].parent


def test_the_page_says_how_it_ended_what_was_learned_and_what_it_cost(runs: Runs) -> None:
    page = (written(runs, runs.judged()) / "report.md").read_text()
    assert page.startswith("# Training r0001 · held\n")
    assert "**HOLD**: it stays out, for:\n\n- Lessons answered right\n- Difference when served" in page
    assert "| ✗ | Lessons answered right | 0.25 | 0.5 | ≥ 0.8 |" in page
    assert "| ✗ | Difference when served \\(nats\\) | — | — | ≤ 0.02 |" in page
    learned, missed = page.split("## Not learned")
    assert "| What is our dog called? | Toby. |" in learned
    assert "| How is the dog named? (in other words) | Rex. |" in missed
    assert "“A saga?”" in page
    assert "| Training | 3 min 20 s, and 20 min 0 s paused | 1 Wh | 2.5 GB |" in page
    assert "| energy | about 1.31 Wh, measured in part |" in page
    assert "| was expected | 5 min 0 s and 1.25 Wh, by the one before |" in page
    assert "| energy for each lesson answered right | 1.31 Wh |" in page
    assert "| tokens | 12 345 |" in page
    assert "](report.svg)" in page


@pytest.mark.parametrize(
    ("language", "title", "chosen"), [("en", "Numbers tried", "chosen"), ("es", "Números probados", "elegido")]
)
def test_the_trainings_that_were_compared_are_told_and_which_was_chosen(
    runs: Runs, here: RunCommand, language: str, title: str, chosen: str
) -> None:
    run = runs.searched()
    page = (written(runs, run, language) / "report.md").read_text()
    table = page.split(f"## {title}")[1]
    assert "| 0.0001 · 8 · 16 | 50% | 1.25 | 0.02 | 1 min 30 s |" in table
    assert f"| 0.0002 · 8 · 16 · {chosen} | 100% | 0.75 | 0.04 | 1 min 30 s |" in table
    assert "| 0.0004 · 8 · 16 | — | — | — | 1 min 30 s |" in table
    assert "0.0002 · 8 · 16 · " in here("train", "report", run.id).out
    assert title not in (written(runs, runs.judged(), language) / "report.md").read_text()


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_and_the_picture_speak_the_readers_language(runs: Runs, language: str) -> None:
    folder = written(runs, runs.judged(), language)
    page, drawn = (folder / "report.md").read_text(), (folder / "report.svg").read_text()
    spanish = language == "es"
    assert ("retenido" in page, "held" in page) == (spanish, not spanish)
    assert ("Ritmo de aprendizaje" in drawn, "Learning rate" in drawn) == (spanish, not spanish)


def test_what_people_said_is_shown_letter_by_letter(runs: Runs) -> None:
    tricks = "![x](http://evil/a.png) <img src=x> | `c` https://evil/ \x1b[31m\u202e"
    page = (written(runs, runs.judged([answer(tricks, "a|b\n# c", right=False)])) / "report.md").read_text()
    row = next(line for line in page.splitlines() if "evil" in line)
    unescaped = re.sub(r"\\.", "", row)
    assert not re.search(r"[\[<`]|://", unescaped)
    assert unescaped.count("|") == 3
    assert "\x1b" not in page
    assert "\u202e" not in page


def test_chosen_answers_that_lost_are_warned_of_in_the_page_and_in_the_terminal(runs: Runs, here: RunCommand) -> None:
    run = runs.trained()
    facts = {"chosen_log_ratio": [0.5, -1.25], "warnings": ["chosen_less_likely"]}
    runs.tell(run, "stage_done", "train", seconds=200.0, peak_bytes=2_500_000_000, **facts)
    page = (written(runs, runs.ended(run, "held")) / "report.md").read_text()
    for said in (page, here("train", "report").out):
        assert "The corrected answers became less likely than the base has them" in " ".join(said.split())
    assert "became less likely" not in (written(runs, runs.judged()) / "report.md").read_text()


def test_the_picture_has_its_curves_its_checks_and_both_sets_of_colours(runs: Runs) -> None:
    text = (written(runs, runs.judged()) / "report.svg").read_text()
    root = ET.fromstring(text)  # noqa: S314 - just written by us
    said = ["".join(node.itertext()) for node in root.iter(f"{SVG}text")]
    for name in ("Total loss", "Corrections (likelihood)", "All else as before (KL)", "Learning rate"):
        assert name in said
    assert said.count("✗") == 2
    assert said.count("✓") == len(CHECKS) - 2
    light, dark = root.findtext(f"{SVG}style", "").split("@media (prefers-color-scheme: dark)")
    assert LIGHT.ground in light
    assert DARK.ground in dark
    assert not re.search(r"<script|<image|href|url\(|@import", text)


def test_nothing_is_drawn_beside_the_picture(runs: Runs) -> None:
    run = runs.begun()
    for number, loss in ((1, 5e4), (2, 0.0), (3, 1e-9)):
        runs.step(run, number, loss, chosen_log_ratio=-3.0 * number, rejected_log_ratio=loss - 7)
    root = ET.fromstring((written(runs, run) / "report.svg").read_text())  # noqa: S314 - just written by us
    height = float(root.get("height", "0"))
    for line in root.iter(f"{SVG}polyline"):
        for pair in line.get("points", "").split():
            x, y = map(float, pair.split(","))
            assert 0 <= x <= WIDTH
            assert 0 <= y <= height


def test_a_run_that_failed_before_its_first_step_says_why_and_has_no_picture(runs: Runs) -> None:
    run = runs.ended(runs.begun(), "failed", {"code": "nothing_to_learn", "facts": {"dropped": 0}})
    folder = written(runs, run)
    page = (folder / "report.md").read_text()
    assert "There is no shared correction to learn from." in page
    assert "It ended before it measured what was learned." in page
    assert not (folder / "report.svg").exists()


def test_a_report_takes_the_place_of_an_earlier_one_and_is_its_owners_alone(runs: Runs) -> None:
    run = runs.trained()
    folder = written(runs, run)
    (folder / "report.md").write_text("old")
    assert written(runs, run) == folder
    assert (folder / "report.md").read_text().startswith("# Training r0001 · running")
    assert {path.name for path in folder.iterdir()} == {"events.jsonl", "report.md", "report.svg"}
    assert (folder / "report.md").stat().st_mode & 0o077 == 0


def test_the_command_shows_the_curves_and_says_where_the_page_is(here: RunCommand, runs: Runs) -> None:
    runs.judged()
    ran = here("train", "report")
    assert ran.code == 0, ran.err
    for said in (
        "r0001 · held",
        "Corrections (likelihood)  2 → 0.05",
        "HOLD: Lessons answered right",
        "Rex.",
        "A saga?",
    ):
        assert said in ran.out
    assert re.search("[\u2801-\u28ff]", ran.out)
    path = Path(ran.out.rsplit("Report: ", 1)[1].strip())
    assert path.name == "report.md"
    assert path.is_file()


def test_the_command_names_a_run_and_knows_the_last_one(here: RunCommand, runs: Runs) -> None:
    assert here("train", "report").code == 1
    runs.ended(runs.begun(), "failed", {"code": "nothing_to_learn", "facts": {"dropped": 0}})
    runs.judged()
    assert '"id": "r0002"' in here("train", "report", "--json").out
    assert "no shared correction" in here("train", "report", "r0001").out
    assert here("train", "report", "r0009").code != 0


def test_ticks_are_evenly_apart_around_the_values_and_zero() -> None:
    for lowest, highest in (
        (0, 1e-7),
        (0.1, 0.36),
        (0, 1),
        (1, 2.66),
        (0, 99),
        (0, 5e4),
        (-9, -3),
        (-0.2, 7.3),
        (-5, 5),
    ):
        marks = ticks(lowest, highest)
        assert 0 in marks
        assert 2 <= len(marks) <= 7
        assert marks[0] <= lowest
        assert marks[-1] >= highest * (1 - 1e-9)
        assert marks[-1] - marks[0] < (max(0, highest) - min(0, lowest)) * 2.6
    assert ticks(0.0, 0.0) == [0.0, 1.0]


def test_a_running_mean_keeps_a_straight_line_and_smooths_noise() -> None:
    assert running_mean([1.0, 2.0, 3.0], 0) == [1.0, 2.0, 3.0]
    assert running_mean([0.0, 3.0, 0.0], 1) == [1.5, 1.0, 1.5]
