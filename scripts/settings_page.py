"""Writes docs/configuration.md from the settings themselves: their sentences, bounds and shipped values."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from configs.layers import merged, read_layer
from configs.settings import DEFAULTS, Settings

PAGE = Path(__file__).resolve().parent.parent / "docs" / "configuration.md"
HEADER = """# Configuration

Every number of Enlace can be changed, and none has to be. Settings come in layers; a later one wins:

1. what is shipped (`configs/defaults/`), listed below;
2. `config.yaml` in the home, which you write; only what you want otherwise has to be in it;
3. the environment: `ENLACE_ENGINE__SLOTS=4` sets `engine.slots` (two underscores between section and key);
4. the options of a command.

```yaml
# config.yaml
engine:
  slots: 4
  sampling:
    temperature: 0.2
```

A wrong key or value stops the command at once, with a sentence that names the file, the key and, where one is
near, the key that was probably meant. `ENLACE_HOME` names the home itself.

This page is written by `make pages`; a test compares it with the settings.
"""


def page() -> str:
    """The whole page."""
    shipped = merged(read_layer(path) for path in sorted(DEFAULTS.glob("*.yaml")))
    parts = [HEADER]
    for name, field in sorted(Settings.model_fields.items()):
        section = field.annotation
        assert isinstance(section, type) and issubclass(section, BaseModel)  # noqa: S101, PT018 - for the type checker
        rows = [row(key, inner, value) for key, inner, value in leaves(section, shipped[name], f"{name}.")]
        about = " ".join((section.__doc__ or "").split("\n\n")[0].split())
        parts.append(f"\n## {name}\n{about}\n\n| setting | shipped | what it does |\n|---|---|---|\n" + "".join(rows))
    return "".join(parts)


def leaves(section: type[BaseModel], shipped: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, FieldInfo, Any]]:
    """Every setting of a section: dotted key, field, shipped value."""
    for name, field in section.model_fields.items():
        kind = field.annotation
        named = get_args(kind)[1] if get_origin(kind) is dict else None
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from leaves(kind, shipped[name], f"{prefix}{name}.")
        elif isinstance(named, type) and issubclass(named, BaseModel):
            for inner, values in shipped[name].items():
                yield from leaves(named, values, f"{prefix}{name}.{inner}.")
        else:
            yield prefix + name, field, shipped[name]


def row(key: str, field: FieldInfo, value: Any) -> str:
    """One line of a table."""
    written = json.dumps(value, ensure_ascii=False)
    text = f"{field.description or ''}{bounds(field)}".replace("|", "\\|")
    return f"| `{key}` | `{written}` | {text} |\n".replace("``", "")


def bounds(field: FieldInfo) -> str:
    """The bounds of a number in brackets, or nothing."""
    signs = {Ge: ("≥", "ge"), Gt: (">", "gt"), Le: ("≤", "le"), Lt: ("<", "lt")}
    found = [
        f"{sign} {getattr(limit, name)}"
        for kind, (sign, name) in signs.items()
        for limit in field.metadata
        if isinstance(limit, kind)
    ]
    return f" ({', '.join(found)})" if found else ""


def main() -> int:
    """Write the page; the exit code."""
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
