"""The settings of a household: defaults < ``config.yaml`` < environment (``ENLACE_SECTION__KEY``) < options."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from configs.errors import EnlaceError
from configs.home import Home
from configs.layers import Layer, environment_layer, holds, merged, read_layer, variable
from configs.sections.assistant import AssistantSettings
from configs.sections.engine import EngineSettings
from configs.sections.interface import InterfaceSettings
from configs.sections.memory import MemorySettings
from configs.sections.processors import TO_WORK_BY
from configs.sections.tools import ToolsSettings
from configs.sections.training import TrainingSettings
from configs.validating import bounds, misread, nearest

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
        facts = {**bounds(first), "kind": first["type"], "nearest": nearest(first, shipped)}
        raise SettingWrong(file=source, key=key, reason=first["msg"], **facts) from error
    if wrong := misread(given, settings.model_dump()):
        source = _source(wrong.key, home, environ, environment, options or {})
        raise SettingWrong(file=source, key=wrong.key, reason=wrong.reason, kind=wrong.kind, nearest="")
    return settings


def _shipped() -> Layer:
    return merged(read_layer(path) for path in sorted(DEFAULTS.glob("*.yaml")))


def _source(key: str, home: Home, environ: Mapping[str, str], environment: Layer, options: Mapping[str, Any]) -> str:
    """Where a person finds the value of ``key``: the strongest of the layers that holds it."""
    if holds(options, key):
        return f"--{key}"
    if not holds(environment, key):
        return str(home.config_file)
    # Of a section that there is not, the variable goes on: ENLACE_TRAINNING__SEED.
    name = variable(key)
    return next((each for each in environ if each.upper().startswith(f"{name}__")), name)
