"""llama.cpp's grammar sampler: which token may come next, and the choice of one that may."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from engine.errors import RequestWrong
from engine.grammar_check import ROOT
from engine.library import forget_complaints, last_complaint, library
from engine.native import Context
from engine.vocabulary import Vocabulary

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from configs.sections.grammars import GrammarSettings


class Grammar:
    """How far one answer has come in a grammar that ``check_grammar`` let pass. Raises RequestWrong.

    ``limits``: what choosing a token may cost. An ordinary one takes some milliseconds; where a grammar can be read in
    ever more ways, each takes several times as long as the one before it, and everybody waits. ``banned``: tokens
    that are never to be chosen.
    """

    def __init__(self, vocabulary: Vocabulary, text: str, limits: GrammarSettings, banned: Sequence[int] = ()) -> None:
        self._lib = library()
        forget_complaints()
        self._sampler: Any = self._lib.llama_sampler_init_grammar(vocabulary.handle, text.encode(), ROOT.encode())
        if not self._sampler:
            raise RequestWrong(field="grammar", reason=last_complaint("llama.cpp refuses it"))
        # Control tokens write nothing: to a grammar their texts would be words of the answer.
        self._never = vocabulary.silent.copy()
        self._never[list(banned)] = True
        self._size = vocabulary.size
        # Made once for a model, which no token's time is to pay for.
        self._shortest_first = vocabulary.shortest_first
        self._limits, self._begun = limits, 0.0
        self._one, self._everything = _candidates(1), _candidates(self._size)

    def choose(self, chain: Any, context: Context, row: int, *, likeliest: bool) -> int:
        """The token that ``chain`` takes after the batch's row ``row`` among those that the grammar lets follow.

        The chain chooses freely first, and only a choice that is refused is made again under the grammar: the
        result is the same and looking at the whole vocabulary takes longer than computing a token.
        ``likeliest``: the chain takes the likeliest token and raises none above its logit.
        Raises RequestWrong where nothing may follow, and where the grammar can be read in so many ways that it takes
        too long.
        """
        import numpy as np

        self._begun = time.thread_time()
        logits = context.logits(row)
        self._everything["id"], self._everything["logit"] = np.arange(self._size), logits
        token, _ = self._draw(chain, self._everything)
        if not self.allows(token):
            token = self._choose_again(chain, logits, likeliest=likeliest)
        self._lib.llama_sampler_accept(chain, token)
        self.accept(token)
        self._check_time()
        return token

    def allows(self, token: int) -> bool:
        """Whether ``token`` may follow what was accepted; of the tokens that end an answer, whether it may end."""
        self._one["id"], self._one["logit"] = token, 0
        self._lib.llama_sampler_apply(self._sampler, ctypes.byref(self._array(self._one)))
        return bool(self._one["logit"][0] == 0) and not self._never[token]

    def accept(self, token: int) -> None:
        """Go on after ``token``, which must be allowed: native code ends the process over one that is not."""
        self._lib.llama_sampler_accept(self._sampler, token)

    def close(self) -> None:
        """Free the sampler."""
        if self._sampler:
            self._lib.llama_sampler_free(self._sampler)
            self._sampler = None

    def _choose_again(self, chain: Any, logits: npt.NDArray[np.float32], *, likeliest: bool) -> int:
        import numpy as np

        first = self._limits.first_tokens
        if likeliest and self._size > first:
            best = np.argpartition(logits, -first)[-first:]
            token, logit = self._draw(chain, self._allowed(best, logits))
            # Nothing outside of these can come to more than the least of them.
            if logit >= logits[best].min():
                return token
        # The short ones first: each character can multiply what a token costs, and so it is seen before it is paid.
        allowed = self._allowed(self._shortest_first, logits)
        if not allowed.size:
            raise RequestWrong(field="grammar", reason="it leads to a place where nothing can follow")
        return self._draw(chain, allowed)[0]

    def _allowed(self, tokens: npt.NDArray[Any], logits: npt.NDArray[np.float32]) -> npt.NDArray[Any]:
        """Those of ``tokens`` that may follow, as candidates; every one of them has a finite logit."""
        import numpy as np

        candidates = _candidates(len(tokens))
        candidates["id"], candidates["logit"] = tokens, logits[tokens]
        # A call of native code cannot be stopped.
        for begin in range(0, len(tokens), self._limits.tokens_at_once):
            self._check_time()
            array = self._array(candidates[begin : begin + self._limits.tokens_at_once])
            self._lib.llama_sampler_apply(self._sampler, ctypes.byref(array))
        candidates["logit"][self._never[tokens]] = -np.inf
        allowed: npt.NDArray[Any] = candidates[np.isfinite(candidates["logit"])]
        # As the chain sees them where it chooses freely: of two alike it takes the first, and so does a drawn lot.
        return allowed[np.argsort(allowed["id"])]

    def _draw(self, chain: Any, candidates: npt.NDArray[Any]) -> tuple[int, float]:
        """What the chain takes of the candidates, and its logit there; (-1, -inf) where there are none."""
        if not candidates.size:
            return -1, float("-inf")
        array = self._array(candidates)
        self._lib.llama_sampler_apply(chain, ctypes.byref(array))
        chosen = array.data[array.selected]
        return int(chosen.id), float(chosen.logit)

    def _check_time(self) -> None:
        if time.thread_time() - self._begun > self._limits.longest_token_s:
            raise RequestWrong(field="grammar", reason="what is written can be read in too many ways by it")

    def _array(self, candidates: npt.NDArray[Any]) -> Any:
        """The candidates as llama.cpp sees them; it changes them in place."""
        array = self._lib.llama_token_data_array()
        array.data = candidates.ctypes.data_as(ctypes.POINTER(self._lib.llama_token_data))
        array.size, array.selected, array.sorted = candidates.size, -1, False
        return array


def _candidates(count: int) -> npt.NDArray[Any]:
    """Room for ``count`` candidates, laid out as llama.cpp's ``llama_token_data``."""
    import numpy as np

    return np.zeros(count, dtype=[("id", "<i4"), ("logit", "<f4"), ("p", "<f4")])
