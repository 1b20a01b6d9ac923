"""The layers of a run as they are written: which files there are, what is typed, and where paths in them begin."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from configs.errors import Fact
from configs.home import Home
from configs.layers import (
    Layer,
    SettingsOutOfReach,
    SettingsUnreadable,
    SettingTwice,
    dotted,
    holds,
    merged,
    read_layer,
    read_text,
)
from configs.pretraining.errors import (
    GroupFileMissing,
    OverrideWrong,
    RunFileMissing,
    RunKeyTwice,
    RunUnreadable,
    RunWrong,
)

SHIPPED: Final = Path(__file__).resolve().parent.parent
RUNS: Final = SHIPPED / "runs"
# The groups of a run, and the folder in which the files of each are shipped.
GROUPS: Final[Mapping[str, Path]] = {
    "hardware": SHIPPED / "hardware",
    "model": SHIPPED / "shapes",
    "train": SHIPPED / "plans",
    "data": SHIPPED / "corpora",
}
USE: Final = "use"
_NO_TEXT: Final = "Input should be a valid string"  # as pydantic says it
HOME: Final = "{home}"  # what stands for the home in a path
_KEY: Final = re.compile(r"[^.=\s]+(\.[^.=\s]+)*")
_SOURCES: Final = ("sources", "evaluations")  # the lists of the corpus that hold paths
BY_NAME: Final = "hub"  # the form of source that is a name, not a path


@dataclass(frozen=True)
class Written:
    """``source``: the file, or what was typed; ``folder``: where paths in it begin; ``exchanges``: groups it names."""

    source: str
    folder: Path
    values: Layer
    exchanges: tuple[str, ...] = ()


def layers_of(asked: str, overrides: Sequence[str], home: Home, here: Path) -> tuple[Written, ...]:
    """What the run ``asked`` is made of, the weakest first. Raises as ``compose`` does, but for values."""
    file = _run_file(asked, here)
    own = _read(file)
    own = Written(own.source, own.folder, {"name": file.stem, **own.values})
    layers = [_with_named_groups(own)]
    for typed in _typed(overrides, here):
        layers = _laid_over(layers, _with_named_groups(typed))
    groups = [found for group in GROUPS if (found := _group(group, layers))]
    return tuple(_placed(each, home) for each in (*groups, *(_without_names(layer) for layer in layers)))


def _run_file(asked: str, here: Path) -> Path:
    """A name is that of a shipped run; anything else is a path."""
    file = _file(asked, RUNS, here)
    if not file.exists():
        raise RunFileMissing(asked=asked, folder=str(RUNS), known=_known(RUNS))
    return file


def _file(asked: str, folder: Path, here: Path) -> Path:
    if asked.endswith((".yaml", ".yml")) or "/" in asked or os.sep in asked:
        return (here / Path(asked).expanduser()).absolute()
    return folder / f"{asked}.yaml"


def _known(folder: Path) -> str:
    return ", ".join(sorted(path.stem for path in folder.glob("*.yaml")))


def _read(file: Path) -> Written:
    try:
        values = read_layer(file)
    except (SettingsUnreadable, SettingsOutOfReach) as error:
        raise RunUnreadable(**{"line": 0, "column": 0, **error.facts}) from error
    except SettingTwice as error:
        raise RunKeyTwice(**error.facts) from error
    if _within_itself(values, ()):
        raise RunUnreadable(file=str(file), reason="a value holds itself", line=0, column=0)
    return Written(str(file), file.parent, values)


def _within_itself(value: Any, around: tuple[int, ...]) -> bool:
    """Whether a value is a part of itself, as YAML's aliases can make it."""
    if id(value) in around:
        return True
    parts = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return any(_within_itself(each, (*around, id(value))) for each in parts)


def _typed(overrides: Sequence[str], here: Path) -> Iterator[Written]:
    """What stands on the command line, a layer each."""
    seen = set()
    for given in overrides:
        key, equals, text = given.partition("=")
        if not equals or not _KEY.fullmatch(key):
            raise OverrideWrong(given=given)
        if key in seen:
            raise RunKeyTwice(file=given, key=key, line=0)
        seen.add(key)
        try:
            value = read_text(text, given)
        except SettingsUnreadable as error:
            raise RunUnreadable(**error.facts) from error
        except SettingTwice as error:
            raise RunKeyTwice(**error.facts) from error
        if _within_itself(value, ()):
            raise RunUnreadable(file=given, reason="a value holds itself", line=0, column=0)
        yield Written(given, here, dotted(key, value))


def _with_named_groups(layer: Written) -> Written:
    """``hardware: cpu`` is short for ``hardware: {use: cpu}``, and takes another one's place with all its keys."""
    named = {group: {USE: value} for group, value in layer.values.items() if group in GROUPS and isinstance(value, str)}
    return replace(layer, values={**layer.values, **named}, exchanges=tuple(named))


def _laid_over(layers: Sequence[Written], stronger: Written) -> list[Written]:
    """``layers`` without the groups that ``stronger`` exchanges, and it on top."""
    kept = [
        replace(each, values={key: value for key, value in each.values.items() if key not in stronger.exchanges})
        for each in layers
    ]
    return [*kept, stronger]


def _group(group: str, layers: Sequence[Written]) -> Written | None:
    """The file of ``group`` that is named last, as a layer; None where none is."""
    naming = next((each for each in reversed(layers) if holds(each.values, f"{group}.{USE}")), None)
    if naming is None or not isinstance(naming.values[group], Mapping):
        # What is no section is refused with the values.
        return None
    asked = naming.values[group][USE]
    if not isinstance(asked, str):
        raise RunWrong(file=naming.source, key=f"{group}.{USE}", reason=_NO_TEXT, kind="string_type", nearest="")
    folder = GROUPS[group]
    file = _file(asked, folder, naming.folder)
    if not file.exists():
        facts: dict[str, Fact] = {"group": group, "asked": asked, "folder": str(folder), "known": _known(folder)}
        raise GroupFileMissing(file=naming.source, **facts)
    read = _read(file)
    return replace(read, values={group: read.values})


def _without_names(layer: Written) -> Written:
    """The layer as the run has it: which files its groups are of is told by what they hold."""
    values = {
        key: {name: inner for name, inner in value.items() if name != USE}
        if key in GROUPS and isinstance(value, Mapping)
        else value
        for key, value in layer.values.items()
    }
    return replace(layer, values=values)


def _placed(layer: Written, home: Home) -> Written:
    """The layer with whole paths; what is no list of sources is refused with the values."""
    data = layer.values.get("data")
    values: Layer = layer.values
    for key in _SOURCES:
        sources = data.get(key) if isinstance(data, Mapping) else None
        if isinstance(sources, list):
            placed = [_placed_source(source, layer.folder, home) for source in sources]
            values = merged([values, dotted(f"data.{key}", placed)])
    return replace(layer, values=values)


def _placed_source(source: Any, folder: Path, home: Home) -> Any:
    path = source.get("path") if isinstance(source, Mapping) else None
    if not isinstance(path, str) or not path or source.get("form") == BY_NAME:
        return source
    written = Path(path.replace(HOME, str(home.root))).expanduser()
    return {**source, "path": os.path.normpath(folder / written)}
