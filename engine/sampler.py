"""Choosing the next token with llama.cpp's own samplers."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

from engine.answers import BANNED, Sampling
from engine.library import library
from engine.native import Context
from engine.vocabulary import Vocabulary

if TYPE_CHECKING:
    from configs.sections.grammars import GrammarSettings
    from engine.grammar import Grammar

KEEP_AT_LEAST = 1


class Sampler:
    """The samplers of one answer. ``seed`` is what randomness starts from, so the same seed gives the same answer.

    The order is llama.cpp's: logit bias, penalties (over the answer's own tokens, not the question's), top-k,
    top-p, min-p, temperature, draw. Temperature 0 takes the likeliest token. A grammar comes before all of them.

    ``limits``: what a token may cost under the grammar.
    ``thinking_until``: what closes the thoughts that the prompt has opened. A grammar is for what comes after it;
    thoughts that would end with the answer are closed instead.
    Raises RequestWrong where a grammar cannot be followed.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        sampling: Sampling,
        seed: int,
        limits: GrammarSettings,
        thinking_until: str = "",
    ) -> None:
        self._lib = library()
        self._vocabulary = vocabulary
        self._size = vocabulary.size
        self._thinking_until = thinking_until if sampling.grammar is not None else ""
        self._thought = ""
        self._closing: list[int] = []
        self._chain: Any = self._lib.llama_sampler_chain_init(self._lib.llama_sampler_chain_default_params())
        self._grammar: Grammar | None = None
        banned = [token for token, bias in sampling.logit_bias.items() if bias <= BANNED]
        try:
            if sampling.grammar is not None:
                # Most answers have none, and an engine starts sooner without it.
                from engine.grammar import Grammar

                self._grammar = Grammar(vocabulary, sampling.grammar, limits, banned)
            only_lowers = [self._add_bias(sampling), self._add_penalties(sampling)]
            self._likeliest = sampling.temperature == 0 and all(only_lowers)
            self._add_choice(sampling, seed)
        except BaseException:
            self.close()
            raise

    def sample(self, context: Context, row: int) -> int:
        """The token that follows the batch's row ``row``. Raises RequestWrong where the grammar lets none follow."""
        if self._grammar is not None and not self._thinking_until:
            return self._grammar.choose(self._chain, context, row, likeliest=self._likeliest)
        token: int = self._lib.llama_sampler_sample(self._chain, context.handle, row)
        return self._think(token) if self._thinking_until else token

    def close(self) -> None:
        """Free the samplers."""
        if self._grammar is not None:
            self._grammar.close()
            self._grammar = None
        if self._chain:
            self._lib.llama_sampler_free(self._chain)
            self._chain = None

    def _think(self, token: int) -> int:
        """The next token of the thoughts, which is ``token`` unless the answer would end with them."""
        if self._vocabulary.is_end(token) and not self._closing:
            self._closing = self._vocabulary.tokenize(self._thinking_until, special=True)
        if self._closing:
            token = self._closing.pop(0)
        self._thought += self._vocabulary.token_text(token)
        if self._thinking_until in self._thought:
            self._thinking_until, self._closing = "", []
        self._thought = self._thought[-len(self._thinking_until) :]
        return token

    def _add_bias(self, sampling: Sampling) -> bool:
        """Add what the request gives to single tokens; whether it can only make them less likely."""
        if sampling.logit_bias:
            biases = (self._lib.llama_logit_bias * len(sampling.logit_bias))()
            for place, (token, bias) in enumerate(sampling.logit_bias.items()):
                biases[place].token = token
                biases[place].bias = float("-inf") if bias <= BANNED else bias
            pointer = ctypes.cast(biases, ctypes.POINTER(self._lib.llama_logit_bias))
            self._add("logit_bias", self._size, len(biases), pointer)
        return all(bias <= 0 for bias in sampling.logit_bias.values())

    def _add_penalties(self, sampling: Sampling) -> bool:
        """Add the penalties for tokens used before; whether they can only make a token less likely."""
        repeat, window = sampling.repeat_penalty, sampling.repeat_window
        frequency, presence = sampling.frequency_penalty, sampling.presence_penalty
        only_lowers = repeat >= 1 and frequency >= 0 and presence >= 0
        if window and (repeat != 1 or frequency or presence):
            wanted = 1 if sampling.temperature == 0 else sampling.top_k
            if only_lowers and wanted:
                # The penalties look at every candidate. They can only lower those in their window, so that many
                # more than wanted are enough to hold the winners: the same tokens, in a quarter of the time.
                self._add("top_k", wanted + window)
            self._add("penalties", self._size, window, repeat, frequency, presence)
        return only_lowers

    def _add_choice(self, sampling: Sampling, seed: int) -> None:
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

    def _add(self, kind: str, *values: Any) -> None:
        self._lib.llama_sampler_chain_add(self._chain, getattr(self._lib, f"llama_sampler_init_{kind}")(*values))
