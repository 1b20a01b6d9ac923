"""Text to tokens and back, with llama.cpp's own vocabulary of a model."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

from engine.library import library
from engine.native import Model

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

# llama_token_attr
UNKNOWN, CONTROL, USER_DEFINED = 1 << 0, 1 << 3, 1 << 4
FIRST_PIECE_SIZE = 64


class Vocabulary:
    """The vocabulary of a loaded model. Safe to use from several threads; the model must outlive it."""

    def __init__(self, model: Model) -> None:
        self._lib = library()
        self._model = model
        self.handle = self._vocab = model.vocab
        self.size = model.vocab_size
        self._pieces: dict[int, bytes] = {}

    @classmethod
    def load(cls, path: Path) -> Self:
        """The vocabulary of a GGUF file alone, without its weights. Raises ModelBroken."""
        return cls(Model(path, vocab_only=True))

    def tokenize(self, text: str, special: bool) -> list[int]:
        """The token ids of ``text``, no BOS added. ``special``: texts of control tokens become those tokens."""
        content = text.encode("utf-8", errors="replace")
        room = len(content) + 2
        buffer = (ctypes.c_int32 * room)()
        count = self._lib.llama_tokenize(self._vocab, content, len(content), buffer, room, False, special)
        return list(buffer[:count])

    def token_bytes(self, token: int) -> bytes:
        """The bytes that a token writes; none for a control token."""
        piece = self._pieces.get(token)
        if piece is None:
            piece = self._pieces[token] = self._piece(token, special=False)
        return piece

    def token_text(self, token: int) -> str:
        """A token as text, control tokens included."""
        return self._piece(token, special=True).decode("utf-8", errors="replace")

    def text(self, tokens: Iterable[int]) -> str:
        """Tokens in a row as text, control tokens included."""
        return b"".join(self._piece(token, special=True) for token in tokens).decode("utf-8", errors="replace")

    def is_end(self, token: int) -> bool:
        """Whether this token ends an answer."""
        return bool(self._lib.llama_vocab_is_eog(self._vocab, token))

    @property
    def bos(self) -> int | None:
        token: int = self._lib.llama_vocab_bos(self._vocab)
        return token if token >= 0 else None

    @property
    def eos(self) -> int | None:
        token: int = self._lib.llama_vocab_eos(self._vocab)
        return token if token >= 0 else None

    @property
    def adds_bos(self) -> bool:
        """Whether the model expects every text to begin with ``bos``."""
        return bool(self._lib.llama_vocab_get_add_bos(self._vocab))

    @cached_property
    def control_texts(self) -> tuple[str, ...]:
        """The texts of the tokens that steer the model (turns, ends, unknown), the longest first."""
        return self._texts(CONTROL | UNKNOWN)

    def control_token(self, text: str) -> int:
        """The token of one of ``control_texts``."""
        return self.tokenize(text, special=True)[0]

    @cached_property
    def added_texts(self) -> tuple[str, ...]:
        """The texts that llama.cpp always reads as one token though they are not control tokens, longest first."""
        return self._texts(USER_DEFINED)

    @cached_property
    def steering_texts(self) -> frozenset[str]:
        """Both: every text that is one token wherever it stands."""
        return frozenset((*self.control_texts, *self.added_texts))

    @cached_property
    def silent(self) -> npt.NDArray[np.bool_]:
        """Which tokens steer the model without ending its answer, and write nothing: shape (size,)."""
        import numpy as np

        attribute = self._lib.llama_vocab_get_attr
        steering = [bool(attribute(self._vocab, token) & (CONTROL | UNKNOWN)) for token in range(self.size)]
        return np.array([steers and not self.is_end(token) for token, steers in enumerate(steering)])

    @cached_property
    def shortest_first(self) -> npt.NDArray[np.intp]:
        """All tokens in the order of how many bytes they write: shape (size,)."""
        import numpy as np

        # Without room for a token's bytes, llama.cpp says how many there are, as a number below zero.
        length = self._lib.llama_token_to_piece
        lengths = [-length(self._vocab, token, None, 0, 0, True) for token in range(self.size)]
        return np.argsort(lengths, kind="stable")

    def close(self) -> None:
        """Free the model that this vocabulary reads from."""
        self._model.close()

    def _texts(self, wanted: int) -> tuple[str, ...]:
        attribute = self._lib.llama_vocab_get_attr
        found = {self.token_text(token) for token in range(self.size) if attribute(self._vocab, token) & wanted}
        return tuple(sorted(found - {""}, key=lambda text: (-len(text), text)))

    def _piece(self, token: int, *, special: bool) -> bytes:
        buffer = ctypes.create_string_buffer(FIRST_PIECE_SIZE)
        count = self._lib.llama_token_to_piece(self._vocab, token, buffer, len(buffer), 0, special)
        if count < 0:
            buffer = ctypes.create_string_buffer(-count)
            count = self._lib.llama_token_to_piece(self._vocab, token, buffer, len(buffer), 0, special)
        return buffer.raw[:count]
