"""A vocabulary whose tokens are single bytes, and whole control tokens where those are asked for."""

from __future__ import annotations

import re
from collections.abc import Sequence

CONTROL = 1000


class ByteVocabulary:
    """Has any control tokens one likes, and so goes with any model's template."""

    bos = None
    adds_bos = False

    def __init__(
        self, control_texts: Sequence[str], added_texts: Sequence[str] = (), end_texts: Sequence[str] = ()
    ) -> None:
        self.control_texts = tuple(control_texts)
        self.added_texts = tuple(added_texts)
        self.steering_texts = frozenset((*self.control_texts, *self.added_texts))
        self._all = sorted(self.steering_texts, key=lambda text: (-len(text), text))
        self._ends = frozenset(end_texts)
        self._split = re.compile(f"({'|'.join(map(re.escape, self._all))})") if self._all else None

    def tokenize(self, text: str, special: bool) -> list[int]:
        """As llama.cpp: added tokens are read in any text, control tokens only where ``special`` says so."""
        ids: list[int] = []
        for part in self._split.split(text) if self._split else [text]:
            steers = part in self.added_texts or (special and part in self.control_texts)
            ids += [CONTROL + self._all.index(part)] if steers else list(part.encode(errors="replace"))
        return ids

    def is_end(self, token: int) -> bool:
        return token >= CONTROL and self._all[token - CONTROL] in self._ends

    def control_token(self, text: str) -> int:
        return CONTROL + self._all.index(text)

    def controls(self, ids: Sequence[int]) -> list[str]:
        """The control tokens in ``ids``, in their order."""
        return [self._all[token - CONTROL] for token in ids if token >= CONTROL]

    def plain(self, ids: Sequence[int]) -> str:
        """What is in ``ids`` beside control tokens."""
        return bytes(token for token in ids if token < CONTROL).decode()
