"""SHIP or HOLD: every check is a number with a bound, and a number that is missing holds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from configs.sections.training import GateSettings


@dataclass(frozen=True)
class Check:
    """One number against its bound. ``value`` None: it was not measured."""

    name: str
    value: float | None
    bound: float
    at_least: bool
    ok: bool


@dataclass(frozen=True)
class Verdict:
    """What the gate says. ``reasons``: the names of the checks that failed, ``<name>_missing`` where not measured."""

    decision: Literal["SHIP", "HOLD"]
    checks: tuple[Check, ...]
    reasons: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """For events and manifests."""
        return {
            "decision": self.decision,
            "checks": [asdict(check) for check in self.checks],
            "reasons": list(self.reasons),
        }


def judge(measures: Mapping[str, Any], bounds: GateSettings) -> Verdict:
    """The verdict on ``measures`` (shares 0 to 1, nats a token, rises as a share). Fails closed."""
    wanted = (
        ("lessons_right", bounds.lessons_right, True),
        ("held_out_right", bounds.held_out_right, True),
        ("lessons_kept", bounds.lessons_kept, True),
        ("unrelated_kl", bounds.unrelated_kl, False),
        ("perplexity_rise_en", bounds.perplexity_rise, False),
        ("perplexity_rise_es", bounds.perplexity_rise, False),
        ("parity_kl", bounds.parity_kl, False),
    )
    checks = tuple(_check(name, measures.get(name), bound, at_least) for name, bound, at_least in wanted)
    reasons = tuple(
        check.name if check.value is not None else f"{check.name}_missing" for check in checks if not check.ok
    )
    return Verdict("HOLD" if reasons else "SHIP", checks, reasons)


def _check(name: str, value: Any, bound: float, at_least: bool) -> Check:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return Check(name, None, bound, at_least, ok=False)
    ok = value >= bound if at_least else value <= bound
    return Check(name, float(value), bound, at_least, ok)
