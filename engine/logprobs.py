"""What tokens are worth to the model: natural logarithms of probabilities, before any sampling."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.answers import TokenLogprob
from engine.vocabulary import Vocabulary

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


def log_softmax(logits: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Logits (vocab,) as log-probabilities (vocab,)."""
    import numpy as np

    shifted = logits - logits.max()
    result: npt.NDArray[np.float32] = shifted - np.log(np.exp(shifted, dtype=np.float64).sum())
    return result.astype(np.float32, copy=False)


def token_logprob(vocabulary: Vocabulary, logits: npt.NDArray[np.float32], token: int, top: int) -> TokenLogprob:
    """What ``token`` is worth where the model gives ``logits`` (vocab,), and the ``top`` likeliest there in order."""
    worth = log_softmax(logits)
    return _told(vocabulary, worth, token, tuple(_told(vocabulary, worth, other) for other in _likeliest(worth, top)))


def _likeliest(worth: npt.NDArray[np.float32], count: int) -> list[int]:
    import numpy as np

    count = min(count, len(worth))
    if not count:
        return []
    found = np.argpartition(worth, -count)[-count:]
    return [int(token) for token in found[np.argsort(-worth[found], kind="stable")]]


def _told(
    vocabulary: Vocabulary, worth: npt.NDArray[np.float32], token: int, top: tuple[TokenLogprob, ...] = ()
) -> TokenLogprob:
    return TokenLogprob(token, vocabulary.token_text(token), vocabulary.token_bytes(token), float(worth[token]), top)
