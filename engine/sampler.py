"""Choosing the next token with llama.cpp's own chain of samplers."""

from __future__ import annotations

from typing import Any

from engine.answers import Sampling
from engine.library import library
from engine.native import Context, Model

KEEP_AT_LEAST = 1


class Sampler:
    """The chain for one answer. ``seed`` is what randomness starts from, so the same seed gives the same answer.

    The order is llama.cpp's: repeat penalty (over the answer's own tokens, not the question's), top-k, top-p,
    min-p, temperature, draw. Temperature 0 takes the likeliest token.
    """

    def __init__(self, model: Model, sampling: Sampling, seed: int) -> None:
        self._lib = library()
        self._chain: Any = self._lib.llama_sampler_chain_init(self._lib.llama_sampler_chain_default_params())
        if sampling.repeat_penalty != 1 and sampling.repeat_window:
            wanted = 1 if sampling.temperature == 0 else sampling.top_k
            if sampling.repeat_penalty > 1 and wanted:
                # The penalty looks at every candidate. It can only lower those in its window, so that many more
                # than wanted are enough to hold the winners: the same tokens, in a quarter of the time.
                self._add("top_k", wanted + sampling.repeat_window)
            self._add("penalties", model.vocab_size, sampling.repeat_window, sampling.repeat_penalty, 0.0, 0.0)
        if sampling.temperature == 0:
            self._add("greedy")
            return
        if sampling.top_k:
            self._add("top_k", sampling.top_k)
        if sampling.top_p < 1:
            self._add("top_p", sampling.top_p, KEEP_AT_LEAST)
        if sampling.min_p:
            self._add("min_p", sampling.min_p, KEEP_AT_LEAST)
        self._add("temp", sampling.temperature)
        self._add("dist", seed)

    def sample(self, context: Context, row: int) -> int:
        """The token that follows the batch's row ``row``."""
        token: int = self._lib.llama_sampler_sample(self._chain, context.handle, row)
        return token

    def close(self) -> None:
        """Free the chain."""
        if self._chain:
            self._lib.llama_sampler_free(self._chain)
            self._chain = None

    def _add(self, kind: str, *values: float) -> None:
        self._lib.llama_sampler_chain_add(self._chain, getattr(self._lib, f"llama_sampler_init_{kind}")(*values))
