"""Layers of settings, merged from the weakest to the strongest.

PyYAML's C loader and a recursive merge, not OmegaConf: its import alone would add 40 ms to every command
(docs/decisions/layers.md).
"""

from __future__ import annotations

import stat
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from configs.errors import EnlaceError

Layer = dict[str, Any]
# What PyYAML lets through where a value is not what its tag says.
_NOT_MADE = (ValueError, LookupError, AttributeError)
_SafeLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# What the values of these tags are called where they are none.
_MISWRITTEN = {
    "tag:yaml.org,2002:timestamp": "a date that does not exist",
    "tag:yaml.org,2002:int": "a whole number that is miswritten",
    "tag:yaml.org,2002:float": "a number that is miswritten",
    "tag:yaml.org,2002:bool": "a true or false that is miswritten",
}
_MERGE = "tag:yaml.org,2002:merge"  # << takes over another mapping's keys, which those beside it replace


class SettingsUnreadable(EnlaceError):
    """facts: file (or the environment variable), reason, line and column (counted from 1; 0 where nobody knows)."""

    code = "settings_unreadable"
    exit_code = 2


class SettingTwice(EnlaceError):
    """YAML would keep the last of two equal keys. facts: file (or the environment variable), key, line of the last."""

    code = "setting_twice"
    exit_code = 2


class SettingsOutOfReach(EnlaceError):
    """facts: file, reason."""

    code = "settings_out_of_reach"
    exit_code = 2


class _Twice(yaml.MarkedYAMLError):
    """``problem`` is the key."""


def parse(text: str) -> Any:
    """YAML text as plain Python values. Raises yaml.YAMLError, also for a key that is set twice."""
    loader = _SafeLoader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None
        _check_each_key_once(node, set())
        return loader.construct_document(node)
    except _NOT_MADE as error:
        raise _miswritten(node, set()) or error from error
    finally:
        loader.dispose()


def _miswritten(node: yaml.Node, seen: set[int]) -> yaml.MarkedYAMLError | None:
    """What is wrong with the first value of which PyYAML makes nothing, and where."""
    if id(node) in seen:
        return None
    seen.add(id(node))
    if isinstance(node, yaml.ScalarNode):
        try:
            _SafeLoader("").construct_object(node)
        except _NOT_MADE as error:
            # The only limit that Python sets to a number that is written as it should be.
            too_long = str(error).startswith("Exceeds the limit")
            problem = "a number of too many digits" if too_long else _MISWRITTEN.get(node.tag, str(error))
            return yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)
        return None
    inside = [each for pair in node.value for each in pair] if isinstance(node, yaml.MappingNode) else node.value
    return next((found for each in inside if (found := _miswritten(each, seen))), None)


def _check_each_key_once(node: yaml.Node, seen: set[int]) -> None:
    """PyYAML keeps the last of two equal keys: the first of two sections would be lost without a word.

    Looked at before anything is made of the tree, which takes over the keys of merged mappings in place.
    """
    if id(node) in seen:
        return
    seen.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for each in node.value:
            _check_each_key_once(each, seen)
    elif isinstance(node, yaml.MappingNode):
        keys = set()
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode) and key.tag != _MERGE:
                if (key.tag, key.value) in keys:
                    raise _Twice(problem=key.value, problem_mark=key.start_mark)
                keys.add((key.tag, key.value))
            _check_each_key_once(value, seen)


def read_text(text: str, file: str) -> Any:
    """YAML that stands in ``file``, or in what is called so. Raises SettingsUnreadable, SettingTwice."""
    try:
        return parse(text)
    except yaml.YAMLError as error:
        raise _unreadable(file, error) from error


def read_layer(path: Path) -> Layer:
    """One YAML file as a layer; a file that is not there is an empty layer.

    Raises SettingsOutOfReach, SettingsUnreadable, SettingTwice.
    """
    try:
        # A pipe would be waited for, and a device read for ever.
        if not stat.S_ISREG(path.stat().st_mode):
            raise SettingsOutOfReach(file=str(path), reason="it is no plain file")
        values = parse(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        # A home that cannot be one is told when it is opened, not by its missing settings.
        return {}
    except OSError as error:
        raise SettingsOutOfReach(file=str(path), reason=error.strerror or str(error)) from error
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        raise _unreadable(str(path), error) from error
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise SettingsUnreadable(file=str(path), reason="the file must hold `key: value` lines", line=0, column=0)
    return values


def _unreadable(file: str, error: UnicodeDecodeError | yaml.YAMLError) -> EnlaceError:
    """What is wrong with the text of ``file``, and where."""
    if isinstance(error, UnicodeDecodeError):
        before = error.object[: error.start]
        line, column = before.count(b"\n") + 1, len(before) - before.rfind(b"\n")
        return SettingsUnreadable(file=file, reason="it is no text in UTF-8", line=line, column=column)
    mark = getattr(error, "problem_mark", None)
    line, column = (mark.line + 1, mark.column + 1) if mark else (0, 0)
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or " ".join(str(error).split())
    if isinstance(error, _Twice):
        return SettingTwice(file=file, key=problem, line=line)
    return SettingsUnreadable(file=file, reason=problem, line=line, column=column)


def merged(layers: Iterable[Mapping[str, Any]]) -> Layer:
    """One new layer from several: later ones win, nested sections are merged key by key."""
    result: Layer = {}
    for layer in layers:
        for key, value in layer.items():
            if isinstance(value, Mapping):
                weaker = result.get(key)
                result[key] = merged([weaker if isinstance(weaker, Mapping) else {}, value])
            else:
                result[key] = value
    return result


def dotted(path: str, value: Any) -> Layer:
    """``dotted("engine.slots", 4)`` is ``{"engine": {"slots": 4}}``."""
    for key in reversed(path.split(".")):
        value = {key: value}
    return dict(value)


def environment_layer(environ: Mapping[str, str]) -> Layer:
    """``ENLACE_ENGINE__SLOTS=4`` sets ``engine.slots``; values are read as YAML.

    Raises SettingsUnreadable, SettingTwice.
    """
    layers = []
    for name, text in environ.items():
        if name.startswith("ENLACE_") and "__" in name:
            value = read_text(text, name)
            layers.append(dotted(name.removeprefix("ENLACE_").lower().replace("__", "."), value))
    return merged(layers)


def variable(path: str) -> str:
    """The environment variable that sets the dotted ``path``."""
    return "ENLACE_" + path.upper().replace(".", "__")


def holds(layer: Mapping[str, Any], path: str) -> bool:
    """Whether ``layer`` itself says something about the dotted ``path`` or about a section around it."""
    value: Any = layer
    for key in path.split("."):
        if not isinstance(value, Mapping):
            return True
        if key not in value:
            return False
        value = value[key]
    return True
