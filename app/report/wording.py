"""How a report's numbers and names are put into words, the same on a terminal, in the page and in the picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.catalogue import Catalogue
from app.report.cost import Drawn, Reckoned, drawn_of, energy_short, watt_hours
from app.report.story import Stage, Story, Trial
from app.terminal_text import clean

if TYPE_CHECKING:
    from memory.runs import Run

_MINUTE = 60
_HOUR = 3600
# The heads of ``stage_cells`` and of ``tried``, in the catalogue's report.heads.
STAGE = ("stage", "took", "energy", "memory")
TRIED = ("numbers", "right", "nats", "kl", "took")
# A first step's KL from the base is rounding, and shown with a power of ten it looks like something.
_NOTHING = 1e-6


def heading(words: Catalogue, story: Story) -> str:
    """The run, how it ended, and what it made."""
    parts = [story.run.id, words.text(f"command.train.states.{story.run.state}"), story.run.snapshot]
    return " · ".join(clean(part) for part in parts if part)


def curve_name(words: Catalogue, name: str) -> str:
    """What an objective, or another number of the steps, is called; its own name where no text knows it."""
    key = f"training.curves.{name}"
    return words.text(key) if words.has(key) else clean(name).replace("_", " ")


def stage_name(words: Catalogue, name: str) -> str:
    """What a stage does."""
    key = f"command.train.stages.{name}"
    return words.text(key) if words.has(key) else clean(name)


def warning(words: Catalogue, name: str) -> str:
    """What a warning of the training says; its name where no text knows it."""
    key = f"training.warnings.{name}"
    return words.text(key) if words.has(key) else clean(name)


def duration(seconds: float | None) -> str:
    """Hours and minutes, minutes and seconds, or seconds; a dash where it is not known."""
    if seconds is None:
        return "—"
    whole = round(seconds)
    if whole >= _HOUR:
        return f"{whole // _HOUR} h {whole % _HOUR // _MINUTE} min"
    return f"{whole // _MINUTE} min {whole % _MINUTE} s" if whole >= _MINUTE else f"{whole} s"


def about(seconds: float) -> str:
    """A time that is reckoned: whole minutes from two of them on, else tens of seconds."""
    if seconds >= 2 * _MINUTE:
        return duration(_MINUTE * round(seconds / _MINUTE)).removesuffix(" 0 s")
    return f"{max(10, 10 * round(seconds / 10))} s"


def size(count: int | None) -> str:
    """Bytes in megabytes or gigabytes of 1,000; a dash where it is not known."""
    if count is None:
        return "—"
    return f"{count / 1e9:.1f} GB" if count >= 10**9 else f"{count / 1e6:.0f} MB"


def energy(words: Catalogue, drawn: Drawn) -> str:
    """How much, and whether it was measured or reckoned."""
    how = "measured" if not drawn.estimated else "estimated" if drawn.estimated >= drawn.joules else "partly"
    return words.text(f"report.energy.{how}", energy=watt_hours(drawn.joules))


def took(words: Catalogue, seconds: float | None, paused: float) -> str:
    """How long it worked, and how long it was paused beside, where it was."""
    if paused < 1:
        return duration(seconds)
    return words.text("report.paused_too", took=duration(seconds), paused=duration(paused))


def cost_cells(words: Catalogue, run: Run) -> tuple[str, str]:
    """How long a run took and what it drew, as far as its record tells."""
    cost = run.summary.get("cost")
    if cost:
        return took(words, float(cost["seconds"]), float(cost["paused"])), energy_short(drawn_of(cost["energy"]))
    return duration(None if run.ended_at is None else run.ended_at - run.started_at), "—"


def foreseen(words: Catalogue, told: Reckoned) -> str:
    """What it was thought to take."""
    how = "by_run" if told.measured else "by_guess"
    return words.text(f"report.{how}", took=duration(told.seconds), energy=watt_hours(told.joules))


def number(value: float | None) -> str:
    """Three digits, or a dash."""
    if value is None:
        return "—"
    return "0" if abs(value) < _NOTHING else f"{value:.3g}"


def stage_cells(words: Catalogue, stage: Stage) -> tuple[str, ...]:
    """What a stage took, in the order of ``STAGE``."""
    cells = (took(words, stage.seconds, stage.paused), energy_short(stage.drawn), size(stage.peak_bytes))
    return (stage_name(words, stage.name), *cells)


def tried(words: Catalogue, trial: Trial) -> tuple[str, ...]:
    """One of the compared trainings, in the order of ``TRIED``; what was not measured, as it broke, is a dash."""
    right = "—" if trial.right is None else f"{trial.right:.0%}"
    chosen = f" · {words.text('report.chosen')}" if trial.best else ""
    numbers = f"{number(trial.learning_rate)} · {trial.epochs} · {trial.rank}{chosen}"
    return (numbers, right, number(trial.nats), number(trial.unrelated_kl), duration(trial.seconds))


def summary(words: Catalogue, story: Story) -> list[tuple[str, str]]:
    """What a run was, as names and values; what is not known is left out."""
    right, asked = story.right(held_out=False)
    right_otherwise, asked_otherwise = story.right(held_out=True)
    speed = story.tokens_per_second
    rows = [
        ("recipe", story.recipe),
        ("onward", story.onward),
        ("who", story.who),
        ("took", took(words, story.seconds, story.paused) if story.seconds is not None else ""),
        ("reckoned", foreseen(words, story.reckoned) if story.reckoned else ""),
        ("energy", energy(words, story.drawn) if story.drawn and story.drawn.joules else ""),
        ("energy_a_lesson", _energy_a_lesson(story, right)),
        ("steps", f"{story.steps} / {story.of_steps}" if story.steps else ""),
        ("tokens", f"{story.tokens:,}".replace(",", " ") if story.tokens else ""),
        ("speed", f"{speed:.0f}" if speed else ""),
        ("peak", size(story.peak_bytes) if story.peak_bytes else ""),
        ("right", f"{right} / {asked}" if asked else ""),
        ("right_otherwise", f"{right_otherwise} / {asked_otherwise}" if asked_otherwise else ""),
    ]
    return [(words.text(f"report.summary.{name}"), clean(value)) for name, value in rows if value]


def _energy_a_lesson(story: Story, learned: int) -> str:
    """What each lesson that was learned took; empty where none was, or nobody knows."""
    if story.drawn is None or not story.drawn.joules or not learned:
        return ""
    return watt_hours(story.drawn.joules / learned)
