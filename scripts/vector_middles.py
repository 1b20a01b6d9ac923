"""Writes ``memory/data/middles.json``: where the middle of each language lies among the vectors.

Of the questions and answers in both languages that recall was made with, so that whoever takes another model makes
them anew: ``python -m scripts.vector_middles``.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import yaml

from configs.settings import default_settings
from memory.meaning.embedder import Asked, Embedder
from memory.meaning.meaning import MIDDLES
from memory.wording import Wordings

ROOT = Path(__file__).parents[1]
SETS = ROOT / "tests" / "memory" / "data"
LINES = ROOT / "benchmarks" / "data"


def texts() -> tuple[list[str], list[str]]:
    """Questions, and answers."""
    questions: list[str] = []
    answers: list[str] = []
    for part in yaml.safe_load((SETS / "recall_set.yaml").read_text(encoding="utf-8")).values():
        questions += [text for entry in part for text in (entry if isinstance(entry, list) else [entry])]
    for part in yaml.safe_load((SETS / "said_otherwise.yaml").read_text(encoding="utf-8")).values():
        for question, answer, *others in part["lessons"]:
            questions += [question, *others]
            answers.append(answer)
        questions += part["another"]
    for name in ("lessons24.jsonl", "nights70.jsonl"):
        for line in map(json.loads, (LINES / name).read_text(encoding="utf-8").splitlines()):
            questions += [line["prompt"][-1]["content"], *line.get("paraphrases", [])]
            answers.append(line["chosen"][0]["content"])
    return list(dict.fromkeys(questions)), list(dict.fromkeys(answers))


def main() -> None:
    """Write the file."""
    settings = default_settings().memory.recall
    wordings = Wordings(settings)
    embedder = Embedder(settings.meaning)
    questions, answers = texts()
    kinds: dict[Asked, list[str]] = {"query": questions, "passage": answers}
    stored = {
        kind: {
            language: _middle(embedder, kind, (text for text in found if wordings.language(text) == language))
            for language in ("es", "en")
        }
        for kind, found in kinds.items()
    }
    embedder.close()
    MIDDLES.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")


def _middle(embedder: Embedder, kind: Asked, found: Iterable[str]) -> str:
    every = list(found)
    batches = [embedder.vectors(kind, every[at : at + 32]) for at in range(0, len(every), 32)]
    vectors = np.concatenate([batch for batch in batches if batch is not None])
    return base64.b64encode(vectors.mean(axis=0).astype("<f2").tobytes()).decode()


if __name__ == "__main__":
    main()
