"""One line of the table of forms: what a form takes, how fast it is, what it loses, or why it was not measured."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from configs.sections.forms import FormSettings


@dataclass
class Speeds:
    """Tokens a second, each measured several times. ``step_s``: seconds of the slowest chunk of a prompt."""

    read: list[float] = field(default_factory=list)
    write: list[float] = field(default_factory=list)
    step_s: list[float] = field(default_factory=list)

    def add(self, result: dict[str, Any]) -> None:
        """One measurement more."""
        self.read.append(result["read"])
        self.write.append(result["write"])
        self.step_s.append(result["step_s"])

    def medians(self, settings: FormSettings) -> dict[str, float]:
        """The median speeds, and the seconds of a usual turn."""
        return {
            "read": round(median(self.read), 1),
            "write": round(median(self.write), 1),
            "turn_s": round(self.turn_s(settings), 3),
        }

    def turn_s(self, settings: FormSettings) -> float:
        """Seconds that a usual turn takes at the median speeds."""
        return settings.turn_read_tokens / median(self.read) + settings.turn_written_tokens / median(self.write)


@dataclass
class FormRow:
    """A form and what is known of it. ``why``: what kept it from being measured or chosen, in English; else empty."""

    form: str
    path: Path
    bytes: int = 0
    kl: float | None = None
    agreement: float | None = None
    speeds: Speeds = field(default_factory=Speeds)
    steady: dict[str, float] | None = None
    why: str = ""

    @property
    def measured(self) -> bool:
        """Whether its speed and its loss are known."""
        return self.kl is not None and bool(self.speeds.read)

    def as_json(self, settings: FormSettings) -> dict[str, Any]:
        """The row for people and records."""
        unknown = {"read": None, "write": None, "turn_s": None}
        return {
            "form": self.form,
            "bytes": self.bytes,
            **(self.speeds.medians(settings) if self.speeds.read else unknown),
            "kl": self.kl,
            "agreement": self.agreement,
            "steady": self.steady,
            "why": self.why,
        }
