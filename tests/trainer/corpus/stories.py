"""Stories that read as Spanish, the smallest run that is made of them, and what came of it."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from configs.home import Home
from configs.pretraining.composing import compose
from configs.pretraining.places import Places
from configs.wordlists import words_of
from trainer.corpus.command import LOCK
from trainer.corpus.preparing import Preparation

WORDS = sorted(
    words_of(
        "casa perro gato camino sierra pueblo mercado domingo lluvia tarde abuela cocina pan vino queso mesa silla"
        " calle plaza iglesia escuela maestra libro cuento noche luna estrella río puente barca pescador mar"
    )
)
MEASURED = "El tren salió de la estación con diez minutos de retraso y nadie supo decir por qué había sido"


def story(draw: random.Random, sentences: int = 12) -> str:
    """Something that reads as Spanish."""
    said = []
    for _ in range(sentences):
        one, two, three, four = draw.sample(WORDS, 4)
        said.append(
            f"La {one} de la {two} estaba junto a la {three}, y por la mañana se veía desde el {four} del valle."
        )
    return " ".join(said)


def changes(sources: Path, **others: Any) -> list[str]:
    """What makes of the smallest run one of these sources, in stretches of a few documents."""
    given: dict[str, Any] = {
        "data.sources": [{"path": str(sources), "form": form} for form in ("text", "jsonl")],
        "data.evaluations": [{"path": str(sources.parent / "measured.txt"), "form": "text"}],
        "data.cleaning": {
            "least_characters": 40, "least_letter_share": 0.6, "most_repeated_share": 0.3, "most_characters": 2000,
            "line_documents": 10, "stretch_characters": 9000,
        },
        "data.identification.least": 0.5, "data.validation_share": 0.2, "data.shard_tokens": 3000,
        "data.loader": "shards", "model.vocabulary": 400,
    } | others  # fmt: skip
    return [f"{key}={json.dumps(value)}" for key, value in given.items()]


def places_of(home: Path, given: list[str]) -> Places:
    return Places(Home(home), compose("smoke", given, Home(home), home).run)


def prepare(
    places: Places, *, processes: int = 1, stop: int | None = None
) -> tuple[dict[str, Any], list[tuple[str, Mapping[str, Any]]]]:
    """The report, and what was told. ``stop``: interrupted at so many looks whether to."""
    told: list[tuple[str, Mapping[str, Any]]] = []
    looks = 0

    def stopping() -> bool:
        nonlocal looks
        looks += 1
        return stop is not None and looks >= stop

    def unknown(name: str) -> list[Any]:
        raise AssertionError(name)

    preparation = Preparation(places, processes, lambda kind, _, facts: told.append((kind, facts)), stopping, unknown)
    return preparation.corpus()["report"], told


def files(folder: Path) -> dict[str, bytes]:
    """All but the lock, which is of whoever makes them."""
    found = {path.relative_to(folder): path for path in sorted(folder.rglob("*")) if path.is_file()}
    return {str(name): path.read_bytes() for name, path in found.items() if name != Path(LOCK)}
