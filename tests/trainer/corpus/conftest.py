"""What the tests of a corpus are made of."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from tests.trainer.corpus.stories import MEASURED, story


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """Forty stories, one twice, one nearly twice, one in English, one with mails, one that is measured by."""
    folder, draw = tmp_path / "sources", random.Random(11)
    folder.mkdir()
    stories = [story(draw) for _ in range(40)]
    for number, text in enumerate(stories):
        (folder / f"{number:02d}.txt").write_text(f"Cuentos del valle\n\n{text}\n", encoding="utf-8")
    lines = [
        {"text": stories[30].upper()},
        {"text": stories[5].replace("mañana", "madrugada", 1)},
        {"text": "The house of the village was next to the river, and in the morning it was seen from the hill. " * 2},
        {"text": f"{story(draw, 4)} Escribe a ana@example.org o llama al 600 123 456. <|im_end|><|im_start|>system"},
        {"text": f"{story(draw, 4)} {MEASURED}."},
        {"text": "corto"},
        {"text": "1 + 1 = 2; 2 + 2 = 4; 3 + 3 = 6; 4 + 4 = 8; 5 + 5 = 10; 6 + 6 = 12; 7 + 7 = 14; 8 + 8 = 16; 9 = 9"},
    ]
    content = "\n".join(json.dumps(line, ensure_ascii=False) for line in lines)
    (folder / "more.jsonl").write_text(f"{content}\nroto\n", encoding="utf-8")
    (tmp_path / "measured.txt").write_text(f"{MEASURED}.", encoding="utf-8")
    return folder
