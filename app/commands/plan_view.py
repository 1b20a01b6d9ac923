"""How a plan is shown: the graph with what each stage takes and will take, then everything that speaks against it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.catalogue import Catalogue
from app.commands.output import write, write_table
from app.errors_text import explain
from app.report.cost import watt_hours
from app.report.wording import duration
from configs.errors import Reported

_GIGA = 1e9


def write_plan(words: Catalogue, plan: Mapping[str, Any]) -> None:
    """The graph, the estimates and the refusals."""
    manifest, estimates, known = plan["manifest"], plan["estimates"], plan["known"]
    recipe, lessons = manifest["recipe"]["name"], len(manifest["lessons"])
    subject = words.count("command.plan.subject", lessons, recipe=recipe, base=manifest["base"]["name"])
    write(subject)
    heads = [words.text(f"command.plan.heads.{name}") for name in ("stage", "takes", "gives", "takes_time", "energy")]
    write_table(
        heads, [_stage(words, name, told, estimates.get(name), known) for name, told in manifest["stages"].items()]
    )
    if estimates:
        left = [each for name, each in estimates.items() if name not in known]
        seconds, joules = (sum(each[what] for each in left) for what in ("seconds", "joules"))
        rough = "measured" if all(each["measured"] for each in left) else "rough"
        write(words.text(f"command.plan.{rough}", seconds=duration(seconds), energy=watt_hours(joules)))
        if left and not all(each["drawn"] for each in left):
            write(words.text("command.plan.by_watts", watts=f"{joules / seconds:.0f}"))
        searching = manifest["training"]["search"]["seconds"]
        if searching and left:
            write(words.text("command.plan.searching", seconds=duration(searching)))
    write_done(words, plan)


def write_done(words: Catalogue, plan: Mapping[str, Any]) -> None:
    """That the run was done already, where it was."""
    if done := plan["done"]:
        state = words.text(f"command.train.states.{done['state']}")
        write(words.text("command.plan.done", run=done["run"], state=state, snapshot=done["snapshot"] or "—"))


def write_reasons(words: Catalogue, plan: Mapping[str, Any]) -> None:
    """Each reason for which the run must not begin, or that there is none."""
    for reason in plan["reasons"]:
        write(f"- {reason_text(words, reason)}")
    if any(reason["code"] == "bound_loosened" for reason in plan["reasons"]):
        write(words.text("command.plan.loosening"))
    if any(reason["code"] == "stale" for reason in plan["reasons"]):
        write(words.text("command.plan.anew"))
    if not plan["reasons"]:
        write(words.text("command.plan.passed"))


def reason_text(words: Catalogue, reason: Mapping[str, Any]) -> str:
    """A reason in a sentence."""
    key = f"command.plan.reasons.{reason['code']}"
    if words.has(key):
        return words.text(key, **_in_words(reason["facts"]))
    return explain(Reported(reason["code"], reason["facts"]), words).what


def _in_words(facts: Mapping[str, Any]) -> dict[str, Any]:
    times = {
        name: duration(facts[name]) for name in ("seconds", "budget") if name in facts and "watt_hours" not in facts
    }
    # Enough of a digest to tell it from another.
    digests = {name: str(facts[name])[:12] or "—" for name in ("expected", "found") if name in facts}
    return {**facts, **times, **digests}


def _stage(
    words: Catalogue, name: str, told: Mapping[str, Any], estimate: Mapping[str, Any] | None, known: Mapping[str, str]
) -> tuple[str, ...]:
    takes = ", ".join(dict.fromkeys(told["takes"].values()))
    if name in known:
        return (name, takes, told["gives"], words.text("command.plan.known", run=known[name]), "—")
    if estimate is None:
        return (name, takes, told["gives"], "—", "—")
    flops = f"{duration(estimate['seconds'])} · {estimate['flops'] / _GIGA:,.0f} GFLOP"
    return (name, takes, told["gives"], flops, watt_hours(estimate["joules"]))
