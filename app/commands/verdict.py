"""How a verdict of the gate is written: every number beside its bound, and the decision."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.catalogue import Catalogue
from app.checks import check_bound, check_name, check_value
from app.commands.output import write, write_table


def write_checks(catalogue: Catalogue, verdict: Mapping[str, Any]) -> None:
    """The checks as a table, then SHIP or HOLD with the reasons."""
    checks = verdict.get("checks") or []
    if checks:
        heads = [catalogue.text(f"command.train.heads.{name}") for name in ("check", "value", "bound", "ok")]
        write_table(
            heads,
            [
                (
                    check_name(catalogue, str(check.get("name", "?"))),
                    check_value(check),
                    check_bound(check),
                    catalogue.text("command.yes" if check.get("ok") else "command.no"),
                )
                for check in checks
            ],
        )
    decision = str(verdict.get("decision", "?"))
    reasons = "; ".join(check_name(catalogue, str(reason)) for reason in verdict.get("reasons") or [])
    write(f"{decision}: {reasons}" if reasons else decision)
