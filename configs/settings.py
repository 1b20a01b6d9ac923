"""The settings of a household: defaults < ``config.yaml`` < environment (``ENLACE_SECTION__KEY``) < options."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from configs.errors import EnlaceError, Fact
from configs.home import Home
from configs.layers import Layer, environment_layer, holds, merged, read_layer, variable
from configs.sections.assistant import AssistantSettings
from configs.sections.engine import EngineSettings
from configs.sections.interface import InterfaceSettings
from configs.sections.memory import MemorySettings
from configs.sections.processors import TO_WORK_BY
from configs.sections.tools import ToolsSettings
from configs.sections.training import TrainingSettings

DEFAULTS = Path(__file__).parent / "defaults"


class SettingWrong(EnlaceError):
    """facts: file (or the environment variable, or the option), key, reason, nearest (an existing key, or empty).

    Where pydantic refused it also ``kind``, the code of its kind of error, and what it asks for (``ge``, ``expected``).
    """

    code = "setting_wrong"
    exit_code = 2


class Settings(BaseModel):
    """Everything that can be set, one section a room."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    assistant: AssistantSettings
    engine: EngineSettings
    memory: MemorySettings
    tools: ToolsSettings
    interface: InterfaceSettings
    training: TrainingSettings


def default_settings() -> Settings:
    """What is set where nobody sets anything, for what must work while a household's settings are what is wrong."""
    return Settings.model_validate(_shipped(), context=TO_WORK_BY)


def load_settings(home: Home, environ: Mapping[str, str], options: Mapping[str, Any] | None = None) -> Settings:
    """The validated settings of ``home``.

    Raises SettingsOutOfReach, SettingsUnreadable, SettingTwice and SettingWrong.
    """
    shipped = _shipped()
    household, environment = read_layer(home.config_file), environment_layer(environ)
    given = merged([shipped, household, environment, options or {}])
    try:
        settings = Settings.model_validate(given, context=TO_WORK_BY)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        source = _source(key, home, environ, environment, options or {})
        facts = {**_bounds(first), "kind": first["type"], "nearest": _nearest(first, shipped)}
        raise SettingWrong(file=source, key=key, reason=first["msg"], **facts) from error
    taken = settings.model_dump()
    for reason, kind, misread in _MISREAD:
        if key := _first(given, taken, misread):
            source = _source(key, home, environ, environment, options or {})
            raise SettingWrong(file=source, key=key, reason=reason, kind=kind, nearest="")
    return settings


def _shipped() -> Layer:
    return merged(read_layer(path) for path in sorted(DEFAULTS.glob("*.yaml")))


def _truth_for_number(given: Any, taken: Any) -> bool:
    return isinstance(given, bool) and not isinstance(taken, bool)


def _endless(_: Any, taken: Any) -> bool:
    """Pydantic takes 1e999 for a time, which then never ends, and nothing is more or less than what is no number."""
    return isinstance(taken, float) and not math.isfinite(taken)


# What of a value that was taken must not have been: why, pydantic's name for that kind of error, and how it is told.
_MISREAD: tuple[tuple[str, str, Callable[[Any, Any], bool]], ...] = (
    ("true and false are no numbers", "", _truth_for_number),
    ("Input should be a finite number", "finite_number", _endless),
)


def _first(given: Any, taken: Any, misread: Callable[[Any, Any], bool]) -> str:
    """The dotted key of the first value, as it was given and as it was taken, that was ``misread``, or ""."""
    if misread(given, taken):
        return "."
    pairs: Iterable[tuple[Any, Any, Any]] = ()
    if isinstance(given, Mapping) and isinstance(taken, Mapping):
        pairs = ((key, value, taken[key]) for key, value in given.items())
    elif isinstance(given, list) and isinstance(taken, list | tuple):
        pairs = zip(range(len(given)), given, taken, strict=True)
    for key, value, became in pairs:
        if found := _first(value, became, misread):
            return f"{key}.{found}".rstrip(".")
    return ""


def _bounds(problem: Mapping[str, Any]) -> dict[str, Fact]:
    """What pydantic says of a value that it asks for, in figures and names."""
    told = {name: value for name, value in problem.get("ctx", {}).items() if isinstance(value, str | int | float)}
    if problem["type"] == "literal_error":
        # "'', 'es' or 'en'": the last one is not told from the others, so that it reads in any language.
        told["expected"] = str(told["expected"]).replace(" or ", ", ")
    return told


def _source(key: str, home: Home, environ: Mapping[str, str], environment: Layer, options: Mapping[str, Any]) -> str:
    """Where a person finds the value of ``key``: the strongest of the layers that holds it."""
    if holds(options, key):
        return f"--{key}"
    if not holds(environment, key):
        return str(home.config_file)
    # Of a section that there is not, the variable goes on: ENLACE_TRAINNING__SEED.
    name = variable(key)
    return next((each for each in environ if each.upper().startswith(f"{name}__")), name)


def _nearest(problem: Mapping[str, Any], shipped: dict[str, Any]) -> str:
    """The existing key that an unknown one was probably meant to be, or an empty string."""
    *sections, last = (str(part) for part in problem["loc"])
    known: Any = shipped
    for section in sections:
        known = known.get(section, {}) if isinstance(known, dict) else {}
    close = difflib.get_close_matches(last, list(known), n=1) if problem["type"] == "extra_forbidden" else []
    return ".".join([*sections, *close]) if close else ""
