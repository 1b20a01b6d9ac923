"""A training as a page of Markdown, with its picture beside it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from app.checks import check_bound, check_name, check_value, left_out, told_override
from app.errors_text import explain
from app.report.story import Answer, Story
from app.report.wording import STAGE, TRIED, heading, number, stage_cells, summary, tried, warning
from app.terminal_text import clean
from app.training import failure_of

if TYPE_CHECKING:
    from app.catalogue import Catalogue
    from configs.home import Home

# What Markdown or HTML would make something of: people's words could fetch a picture or open a link.
_MEANING: Final = re.compile(r"([\\`*_{}\[\]()#+!|~$^=:@&<>-])")


def page(story: Story, words: Catalogue, home: Home, *, picture: str | None) -> str:
    """The page; ``picture``: the name of the picture's file, None where there is none."""
    title = words.text("report.title", run=heading(words, story))
    parts = [f"# {title}\n", _table(("", ""), [(name, _plain(value)) for name, value in summary(words, story)])]
    if story.failure:
        parts += [_section(words, "failed"), _plain(str(explain(failure_of(home, story.failure), words)))]
    if story.withdrawn:
        parts.append(words.text("report.withdrawn", number=story.withdrawn))
    if picture:
        parts += [_section(words, "curves"), f"![{words.text('report.description')}]({picture})"]
    parts += [_plain(warning(words, name)) for name in story.warnings]
    parts += [*_verdict(story, words), *_measures(story, words), *_learned(story, words)]
    if story.dropped:
        dropped = "\n".join(f"- {_plain(left_out(words, each))}" for each in story.dropped)
        parts += [_section(words, "dropped"), dropped]
    if story.trials:
        trials = [[_plain(cell) for cell in tried(words, each)] for each in story.trials]
        parts += [_section(words, "trials"), words.text("report.trials_are"), _table(_heads(words, *TRIED), trials)]
    if story.stages:
        stages = [stage_cells(words, each) for each in story.stages]
        parts += [_section(words, "stages"), _table(_heads(words, *STAGE), stages)]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _verdict(story: Story, words: Catalogue) -> Iterable[str]:
    decision = str(story.verdict.get("decision", ""))
    if decision not in ("SHIP", "HOLD"):
        return
    yield _section(words, "verdict")
    reasons = [f"- {_plain(check_name(words, str(reason)))}" for reason in story.verdict.get("reasons") or ()]
    override = story.verdict.get("override")
    if override:
        told = {name: _plain(value) for name, value in told_override(override).items()}
        reasons += ["", words.text("training.overridden", **told)]
    yield "\n".join([words.text(f"report.{decision.lower()}"), "", *reasons])
    before = {measure.name: number(measure.before) for measure in story.measures}
    rows = [
        (
            "✓" if check.get("ok") else "✗",
            _plain(check_name(words, str(check.get("name", "?")))),
            before.get(str(check.get("name")), "—"),
            _plain(check_value(check)),
            _plain(check_bound(check)),
        )
        for check in story.verdict.get("checks") or ()
    ]
    yield _table(("", *_heads(words, "what", "before", "value", "bound")), rows)


def _measures(story: Story, words: Catalogue) -> Iterable[str]:
    """What was measured and is no check of the verdict: all of it where there is none."""
    judged = {str(check.get("name")) for check in story.verdict.get("checks") or ()}
    rows = [
        (_plain(check_name(words, each.name)), number(each.before), number(each.value))
        for each in story.measures
        if each.name not in judged
    ]
    if rows:
        yield _section(words, "measures")
        yield _table(_heads(words, "what", "before", "value"), rows)


def _learned(story: Story, words: Catalogue) -> Iterable[str]:
    """Every question, in its two kinds: those that got their answer, and those that did not with what was said."""
    yield _section(words, "learned")
    if not story.answers:
        yield words.text("report.unmeasured")
        return
    right = [each for each in story.answers if each.after_right]
    wrong = [each for each in story.answers if not each.after_right]
    if right:
        yield _answers(right, words)
    yield _section(words, "not_learned")
    yield _answers(wrong, words) if wrong else words.text("report.nothing_missed")


def _answers(answers: Sequence[Answer], words: Catalogue) -> str:
    def asked(answer: Answer) -> str:
        aside = f" ({words.text('report.otherwise')})" if answer.held_out else ""
        return _plain(answer.question) + aside

    return _table(_heads(words, "question", "said"), [(asked(each), _plain(each.after)) for each in answers])


def _section(words: Catalogue, name: str) -> str:
    return f"## {words.text(f'report.{name}')}"


def _heads(words: Catalogue, *names: str) -> tuple[str, ...]:
    return tuple(words.text(f"report.heads.{name}") for name in names)


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _plain(text: str) -> str:
    """One line that Markdown shows letter by letter."""
    return _MEANING.sub(r"\\\1", " ".join(clean(text).split()))
