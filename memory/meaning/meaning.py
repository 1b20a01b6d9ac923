"""What a text means, measured from the middle of its language.

Vectors of one language lie near each other whatever they say (Spanish and English questions by 0.96 from middle to
middle), so that a question is nearer to any other of its language than to its own translation. What is compared is
therefore the way from the language's middle to the vector (``memory/data/middles.json``, made by
``scripts/vector_middles.py``), in whole numbers of a byte each.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from configs.sections.recall import MeaningSettings
from memory.meaning.embedder import Asked, MakesVectors
from memory.wording import Wordings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]
    Bytes = NDArray[np.int8]

MIDDLES: Final = Path(__file__).parents[1] / "data" / "middles.json"
_LARGEST: Final = 127


class Meaning:
    """Of one process. ``None`` wherever there are no vectors to be had."""

    def __init__(self, embedder: MakesVectors, wordings: Wordings, settings: MeaningSettings) -> None:
        self._embedder = embedder
        self._wordings = wordings
        # The same question is asked of the member's file and of the family's, and often again.
        self.question = lru_cache(maxsize=settings.questions_kept)(self._question)

    @property
    def version(self) -> str:
        """Of all that decides a vector."""
        return f"{self._embedder.version}:{hashlib.sha256(MIDDLES.read_bytes()).hexdigest()[:16]}"

    @property
    def works(self) -> bool:
        """Whether vectors may still be asked for."""
        return self._embedder.works

    def _question(self, text: str) -> Vector | None:
        """The vector of a question, of length 1."""
        found = self._centred("query", [text])
        return None if found is None else found[0]

    def of_lessons(self, lessons: Sequence[tuple[str, str]]) -> list[bytes] | None:
        """What is kept of lessons, each a question and its answer: two vectors in a row."""
        questions = self._centred("query", [question for question, _ in lessons])
        answers = self._centred("passage", [answer for _, answer in lessons])
        if questions is None or answers is None:
            return None
        return [one + other for one, other in zip(map(_bytes, questions), map(_bytes, answers), strict=True)]

    def of_facts(self, texts: Sequence[str]) -> list[bytes] | None:
        """What is kept of facts: a vector each."""
        found = self._centred("passage", texts)
        return None if found is None else [_bytes(vector) for vector in found]

    def close(self) -> None:
        self._embedder.close()

    def _centred(self, kind: Asked, texts: Sequence[str]) -> Vector | None:
        import numpy as np

        vectors = self._embedder.vectors(kind, texts)
        if vectors is None:
            return None
        middles = _middles()[kind]
        away = vectors - np.stack([middles[self._wordings.language(text)] for text in texts])
        centred: Vector = away / np.linalg.norm(away, axis=1, keepdims=True).clip(min=1e-9)
        return centred


def read_vectors(blob: bytes, numbers: int) -> Vector:
    """The vectors that ``of_lessons`` or ``of_facts`` made, (how many, ``numbers``), each of length 1."""
    import numpy as np

    found = np.frombuffer(blob, dtype=np.int8).reshape(-1, numbers).astype(np.float32)
    lengths: Vector = np.linalg.norm(found, axis=1, keepdims=True).clip(min=1e-9)
    return found / lengths


def signs(vectors: Vector) -> NDArray[np.uint8]:
    """A bit for each number of vectors (…, n) of whichever form: whether it is above zero, as (…, n / 8)."""
    import numpy as np

    return np.packbits(vectors > 0, axis=-1)


def _bytes(vector: Vector) -> bytes:
    import numpy as np

    scaled: Bytes = np.round(vector * (_LARGEST / np.abs(vector).max().clip(min=1e-9))).astype(np.int8)
    return scaled.tobytes()


@cache
def _middles() -> dict[str, dict[str, Vector]]:
    import numpy as np

    stored = json.loads(MIDDLES.read_text(encoding="utf-8"))
    found: dict[str, dict[str, Vector]] = {}
    for kind, languages in stored.items():
        read = {
            language: np.frombuffer(base64.b64decode(text), dtype="<f2").astype(np.float32)
            for language, text in languages.items()
        }
        # Where a text's language is not known it is as likely the one as the other.
        found[kind] = {**read, "": np.mean(list(read.values()), axis=0)}
    return found
