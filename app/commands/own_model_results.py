"""What comes of the parts of a model of one's own: a corpus, a tokenizer, and what a preflight found, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from app.bytes_text import size_text
from app.commands.output import write, write_table
from app.report.cost import drawn_of
from app.report.wording import about, energy

if TYPE_CHECKING:
    from app.catalogue import Catalogue

_MILLION: Final = 1e6


def write_corpus(words: Catalogue, facts: Mapping[str, Any]) -> None:
    """What was kept of the text, and why the rest was not."""
    report = facts["report"]
    rows = [(words.text("command.own.kept"), report["kept"]["documents"], report["kept"]["characters"])]
    for reason, tally in report["left_out"].items():
        key = f"command.own.left_out.{reason}"
        rows.append((words.text(key) if words.has(key) else reason, tally["documents"], tally["characters"]))
    write_table([words.text(f"command.own.corpus_heads.{name}") for name in ("what", "documents", "characters")], rows)
    for split, found in report["splits"].items():
        write(words.text(f"command.own.splits.{split}", tokens=found["tokens"], documents=found["documents"]))
    if report["unreadable"]:
        write(words.text("command.own.unreadable", count=report["unreadable"]))
    write(words.text("command.own.corpus_at", folder=facts["folder"]))


def write_counted(words: Catalogue, facts: Mapping[str, Any]) -> None:
    """How many tokens the tokenizer takes, beside others."""
    heads = [words.text(f"command.own.token_heads.{name}") for name in ("name", "vocabulary", "a_word", "a_token")]
    own = words.text("command.own.own")
    rows = [
        (
            own if each["name"] == "own" else each["name"],
            each["vocabulary"],
            f"{each['tokens_a_word']:.2f}",
            f"{each['bytes_a_token']:.2f}",
        )
        for each in facts["rows"]
    ]
    write_table(heads, rows)
    write(words.text("command.own.tokenizer_at", folder=facts["folder"], documents=facts["documents"]))


def write_report(words: Catalogue, facts: Mapping[str, Any]) -> None:
    """What the whole run would take, a line each."""
    drawn = drawn_of(facts["energy"])
    memory = {"part": size_text(words, facts["peak_bytes"]), "whole": size_text(words, facts["limit_bytes"])}
    largest = f"command.own.{'tried' if facts['largest_tried'] else 'reckoned'}"
    rows = {
        "parameters": f"{facts['parameters'] / _MILLION:.4g} M",
        "steps": str(facts["steps"]),
        "memory": words.text("command.own.of", **memory),
        "speed": f"{facts['tokens_per_second']:.3g} tokens/s",
        "time": about(facts["seconds"]),
        "energy": energy(words, drawn) if drawn else "—",
        "price": f"{facts['price']:.2f}",
        "skipped": f"{facts['skipped']:.0%}",
        "largest": words.text(largest, largest=facts["largest_micro_batch"]),
        "checkpoint": size_text(words, facts["checkpoint_bytes"]),
    }
    heads = (words.text("command.own.rows.run"), facts["run"])
    write_table(heads, [(words.text(f"command.own.rows.{name}"), value) for name, value in rows.items()])
    write(words.text("command.own.fits", run=facts["run"]))
