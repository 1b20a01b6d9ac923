"""SHIP or HOLD: every check is a number with a bound, and a number that is missing holds.

A share of few answers is told with its interval. Where the bound lies inside it the check is undecided, and the setting
``training.gate.undecided`` says what an undecided one does.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from configs.sections.judging import GateSettings

NONE: Mapping[str, Mapping[str, Any]] = {}


@dataclass(frozen=True)
class Check:
    """One number against its bound. ``value`` None: it was not measured.

    ``low`` and ``high``: its interval, where it is a share of ``samples`` answers. ``decided``: whether the bound lies
    outside of it. ``reckoned``: it was, in whole or in part, and not measured.
    """

    name: str
    value: float | None
    bound: float
    at_least: bool
    ok: bool
    low: float | None = None
    high: float | None = None
    samples: int | None = None
    decided: bool = True
    reckoned: bool = False


@dataclass(frozen=True)
class Override:
    """Who had a held training answer all the same, why, and when (seconds since 1970)."""

    who: str
    why: str
    at: float


@dataclass(frozen=True)
class Verdict:
    """What the gate says. ``reasons``: the names of the checks that failed, ``<name>_missing`` where not measured and
    ``<name>_undecided`` where too little was. ``override``: a HOLD that did not stay.
    """

    decision: Literal["SHIP", "HOLD"]
    checks: tuple[Check, ...]
    reasons: tuple[str, ...]
    override: Override | None = None

    def as_json(self) -> dict[str, Any]:
        """For events and manifests; ``verdict_from_json`` reads it back."""
        told = {
            "decision": self.decision,
            "checks": [asdict(check) for check in self.checks],
            "reasons": list(self.reasons),
        }
        return told if self.override is None else {**told, "override": asdict(self.override)}


def verdict_from_json(value: Mapping[str, Any]) -> Verdict:
    """The reverse of ``Verdict.as_json``."""
    checks = tuple(Check(**check) for check in value["checks"])
    override = Override(**value["override"]) if "override" in value else None
    return Verdict(value["decision"], checks, tuple(value["reasons"]), override)


def judge(
    measures: Mapping[str, Any],
    bounds: GateSettings,
    intervals: Mapping[str, Mapping[str, Any]] = NONE,
    reckoned: Collection[str] = (),
) -> Verdict:
    """The verdict on ``measures`` (shares 0 to 1, nats a token, rises as a share, seconds, watt-hours). Fails closed.

    ``intervals``: of those of them that few answers gave, as ``Interval.as_json`` has them. ``reckoned``: those that
    nothing measured.
    """
    wanted = (
        ("lessons_right", bounds.lessons_right, True),
        ("held_out_right", bounds.held_out_right, True),
        ("lessons_kept", bounds.lessons_kept, True),
        ("known_kept", bounds.known_kept, True),
        ("forms_kept", bounds.forms_kept, True),
        ("refusal_rise", bounds.refusal_rise, False),
        ("repetition_rise", bounds.repetition_rise, False),
        ("empty_rise", bounds.empty_rise, False),
        ("unrelated_kl", bounds.unrelated_kl, False),
        ("perplexity_rise_en", bounds.perplexity_rise, False),
        ("perplexity_rise_es", bounds.perplexity_rise, False),
        ("parity_kl", bounds.parity_kl, False),
        ("contamination", bounds.contamination, False),
        ("seconds", bounds.seconds, False),
        ("watt_hours", bounds.watt_hours, False),
    )
    checks = tuple(
        replace(
            _check(name, measures.get(name), bound, at_least, intervals.get(name), bounds.undecided == "hold"),
            reckoned=name in reckoned,
        )
        for name, bound, at_least in wanted
    )
    reasons = tuple(_reason(check) for check in checks if not check.ok)
    return Verdict("HOLD" if reasons else "SHIP", checks, reasons)


def _check(
    name: str, value: Any, bound: float, at_least: bool, interval: Mapping[str, Any] | None, must_be_decided: bool
) -> Check:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return Check(name, None, bound, at_least, ok=False)
    ok = value >= bound if at_least else value <= bound
    if not interval:
        return Check(name, float(value), bound, at_least, ok)
    # On the good side of the bound, or on the bad one, with all of it.
    good = interval["low"] >= bound if at_least else interval["high"] <= bound
    bad = interval["high"] < bound if at_least else interval["low"] > bound
    decided = good or bad
    return Check(
        name, float(value), bound, at_least, ok=ok and (decided or not must_be_decided), decided=decided, **interval
    )


def _reason(check: Check) -> str:
    if check.value is None:
        return f"{check.name}_missing"
    kept = check.value >= check.bound if check.at_least else check.value <= check.bound
    return f"{check.name}_undecided" if kept else check.name
