"""What the model in memory makes of given texts, in steps between those of the answers: worth and embeddings."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING

from engine.answers import TokenLogprob
from engine.chunks import chunk_bounds, logits_by_chunk
from engine.loaded import Loaded
from engine.logprobs import token_logprob
from engine.routes import routed
from engine.served import AdapterSet

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


def score_steps(
    loaded: Loaded, adapters: AdapterSet, prompt: Sequence[int], answer: Sequence[int], top: int
) -> Generator[None, None, list[TokenLogprob]]:
    """What each token of ``answer`` is worth after ``prompt`` with these of the served adapters, with the ``top``
    likeliest there.

    Raises EngineFailed.
    """
    chunk = loaded.settings.shared_prompt_chunk
    tokens, first = [*prompt, *answer[:-1]], len(prompt) - 1
    worth: list[TokenLogprob] = []
    with contextlib.closing(loaded.new_context(len(tokens), slots=1, outputs=chunk)) as context:
        context.set_adapters(loaded.of(adapters))
        yield
        for rows in logits_by_chunk(context, tokens, first, chunk):
            worth += [token_logprob(loaded.vocabulary, row, answer[place - first], top) for place, row in rows]
            yield
    return worth


def embed_steps(loaded: Loaded, texts: Sequence[Sequence[int]]) -> Generator[None, None, list[npt.NDArray[np.float32]]]:
    """The embedding of each text, shape (width,): the mean of its tokens' last hidden states, of length 1 or of none.

    The states are those after the last norm, from which the next token is computed. Raises EngineFailed.
    """
    import numpy as np

    chunk = loaded.settings.shared_prompt_chunk
    embeddings: list[npt.NDArray[np.float32]] = []
    with contextlib.closing(loaded.new_context(max(map(len, texts)), slots=1, outputs=chunk)) as context:
        # Of no conversation: what is for some of them alone stays off, and texts lie where they lay before it came.
        context.set_adapters(loaded.of(routed(loaded.served.adapters, ())))
        context.keep_states()
        yield
        for tokens in texts:
            context.clear()
            total = np.zeros(loaded.model.width, dtype=np.float64)
            for begin, end in chunk_bounds(len(tokens), chunk):
                context.decode([(tokens[place], place, 0, True) for place in range(begin, end)])
                for row in range(end - begin):
                    total += context.states(row)
                yield
            # States that add up to nothing lie nowhere; divided by their length they would be no numbers.
            embeddings.append((total / (np.linalg.norm(total) or 1)).astype(np.float32))
    return embeddings
