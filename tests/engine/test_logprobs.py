"""What a token is worth is the logarithm of its share in the softmax of the logits."""

from __future__ import annotations

import math

import numpy as np
import pytest

from engine.logprobs import log_softmax, token_logprob
from engine.vocabulary import Vocabulary


def test_logits_become_logarithms_of_probabilities() -> None:
    worth = log_softmax(np.log(np.array([1, 2, 5], dtype=np.float32)) + 30)
    assert worth.tolist() == pytest.approx([math.log(1 / 8), math.log(2 / 8), math.log(5 / 8)], abs=1e-5)
    assert log_softmax(np.array([0, -np.inf], dtype=np.float32)).tolist() == [0, -np.inf]


def test_the_likeliest_come_in_order_with_their_texts(vocabulary: Vocabulary) -> None:
    logits = np.full(vocabulary.size, -20, dtype=np.float32)
    paris, end = vocabulary.tokenize(" Paris", special=False)[0], vocabulary.eos
    assert end is not None
    logits[[paris, end]] = 3, 5
    told = token_logprob(vocabulary, logits, paris, 2)
    assert (told.token, told.text, told.bytes) == (paris, " Paris", b" Paris")
    assert [(other.token, other.bytes) for other in told.top] == [(end, b""), (paris, b" Paris")]
    assert told.logprob == told.top[1].logprob == pytest.approx(-2 - math.log(1 + math.exp(-2)), abs=1e-4)
    assert token_logprob(vocabulary, logits, paris, 0).top == ()
