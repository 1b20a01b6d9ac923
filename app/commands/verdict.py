"""How a verdict of the gate is written: every number beside its bound, and the decision."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.catalogue import Catalogue
from app.checks import check_bound, check_interval, check_name, check_value, told_override
from app.commands.output import write, write_table


def write_checks(catalogue: Catalogue, verdict: Mapping[str, Any]) -> None:
    """The checks as a table, then SHIP or HOLD with the reasons, and whoever had it answer all the same."""
    checks = verdict.get("checks") or []
    if checks:
        heads = [
            catalogue.text(f"command.train.heads.{name}") for name in ("check", "value", "interval", "bound", "ok")
        ]
        write_table(
            heads,
            [
                (
                    check_name(catalogue, str(check.get("name", "?"))),
                    check_value(check),
                    check_interval(check),
                    check_bound(check),
                    _passed(catalogue, check),
                )
                for check in checks
            ],
        )
    decision = str(verdict.get("decision", "?"))
    reasons = "; ".join(check_name(catalogue, str(reason)) for reason in verdict.get("reasons") or [])
    write(f"{decision}: {reasons}" if reasons else decision)
    override = verdict.get("override")
    if override:
        write(catalogue.text("training.overridden", **told_override(override)))


def _passed(catalogue: Catalogue, check: Mapping[str, Any]) -> str:
    """Whether it passed, and whether too little was measured to be sure of it."""
    passed = catalogue.text("command.yes" if check.get("ok") else "command.no")
    return passed if check.get("decided", True) else f"{passed} ({catalogue.text('command.train.undecided')})"
