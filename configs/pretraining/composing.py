"""A run from its layers: one file of each group < the run's own file < ``key.path=value`` of the command line.

A run's file names one file of each group, ``hardware: cpu``, or changes keys of it as well, ``hardware: {use: cpu,
threads: 2}``. Without ``use`` the section is whole by itself: so the resolved run is a run's file again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError

from configs.errors import Fact
from configs.home import Home
from configs.layers import Layer, holds, merged
from configs.pretraining.errors import RunWrong
from configs.pretraining.layering import BY_NAME, Written, layers_of
from configs.pretraining.schema import Run
from configs.validating import bounds, misread, nearest


@dataclass(frozen=True)
class Composed:
    """``layers``: what the run was made of, the weakest first."""

    run: Run
    layers: tuple[Written, ...]

    def wrong(self, key: str, reason: str, kind: str, **facts: Fact) -> RunWrong:
        """The error that ``key`` has a value with which the run cannot be carried out."""
        return RunWrong(file=source_of(key, self.layers), key=key, reason=reason, kind=kind, nearest="", **facts)


def compose(asked: str, overrides: Sequence[str], home: Home, here: Path) -> Composed:
    """The run called ``asked``, or that of a file of this path, with what ``overrides`` change.

    ``here``: where paths on the command line begin. Raises RunFileMissing, GroupFileMissing, RunUnreadable,
    RunKeyTwice, OverrideWrong and RunWrong.
    """
    layers = layers_of(asked, overrides, home, here)
    given = merged(layer.values for layer in layers)
    try:
        run = Run.model_validate(given)
    except ValidationError as error:
        # A misspelt key is also a missing one, and tells more.
        first = min(error.errors(), key=lambda each: each["type"] != "extra_forbidden")
        raise _refused(dict(first), layers) from error
    if wrong := misread(given, run.model_dump()):
        raise Composed(run, layers).wrong(wrong.key, wrong.reason, wrong.kind)
    return Composed(run, layers)


def as_yaml(run: Run) -> str:
    """The resolved whole, as a run's file from which ``compose`` makes the same value."""
    return yaml.safe_dump(run.model_dump(mode="json"), allow_unicode=True, sort_keys=False)


def check_sources(composed: Composed) -> None:
    """Raises RunWrong for the first source that is not there; whoever has the corpus needs none."""
    data = composed.run.data
    named = {"sources": data.sources, "evaluations": data.evaluations}
    for key, place, source in ((key, *each) for key, sources in named.items() for each in enumerate(sources)):
        if source.form != BY_NAME and not Path(source.path).exists():
            raise composed.wrong(
                f"data.{key}.{place}.path", "there is nothing at that path", "source_missing", path=source.path
            )


def source_of(key: str, layers: Sequence[Written]) -> str:
    """Where a person finds the value of the dotted ``key``: the strongest layer that holds it.

    A key that nobody gave belongs into the weakest layer that has something of its section.
    """
    stronger = reversed(layers)
    given = next((layer.source for layer in stronger if holds(layer.values, key)), None)
    section = key.partition(".")[0]
    return given or next((each.source for each in layers if section in each.values), layers[-1].source)


def _refused(problem: Mapping[str, Any], layers: Sequence[Written]) -> RunWrong:
    facts = bounds(problem)
    key = str(facts.pop("key", "")) or ".".join(str(part) for part in problem["loc"])
    facts |= {"kind": problem["type"], "nearest": nearest(problem, _keys(Run))}
    return RunWrong(file=source_of(key, layers), key=key, reason=problem["msg"], **facts)


def _keys(section: type[BaseModel]) -> Layer:
    """The keys that there are, within each other."""
    return {
        name: _keys(kind) if isinstance(kind := field.annotation, type) and issubclass(kind, BaseModel) else None
        for name, field in section.model_fields.items()
    }
