"""Evaluation in a worker's own process sees what serving does."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from engine.errors import AdapterMismatch, PromptTooLong
from engine.scoring import LocalModel, chunk_bounds
from engine.served import AdapterFile
from tests.engine.conftest import Desk, ask
from tests.engine.snapshots import write_adapter

FRANCE = ask("What is the capital of France?")


@pytest.fixture(scope="module")
def model(starter: Path) -> Iterator[LocalModel]:
    with LocalModel(starter, context_size=512, chunk=16, threads=1) as opened:
        yield opened


def test_it_writes_what_serving_writes(model: LocalModel, desk: Desk) -> None:
    question = "Write a long story about the sea."
    served, _ = desk.put(question, desk.sampling(24)).end()
    assert model.greedy(ask(question), 24) == served


def test_a_score_is_the_log_probability_of_each_token_of_the_answer(model: LocalModel) -> None:
    prompt, answer = model.pair(FRANCE, "The capital of France is Paris.")
    scores = model.score(prompt, answer)
    rows = model.logits([*prompt, *answer])[len(prompt) - 1 : -1].astype(np.float64)
    expected = [row[token] - np.log(np.exp(row).sum()) for row, token in zip(rows, answer, strict=True)]
    assert scores == pytest.approx(expected, abs=1e-9)
    assert sum(scores) > sum(model.score(*model.pair(FRANCE, "Banana forty trains.")))


def test_the_rows_of_an_answer_are_those_of_the_whole_text(model: LocalModel) -> None:
    prompt, answer = model.pair(FRANCE, "The capital of France is Paris.")
    whole = model.logits([*prompt, *answer])
    part = model.logits([*prompt, *answer], answer=len(answer))
    assert whole.dtype == np.float32
    assert whole.shape == (len(prompt) + len(answer), model.vocabulary.size)
    assert np.array_equal(part, whole[len(prompt) - 1 : -1])


def test_logits_do_not_depend_on_how_the_text_is_cut(model: LocalModel, starter: Path) -> None:
    ids = model.prompt(ask("Tell me about the sea. " * 8))
    with LocalModel(starter, context_size=512, chunk=63, threads=1) as other:
        assert np.array_equal(model.logits(ids), other.logits(ids))


def test_adapters_are_applied_exchanged_and_taken_off(model: LocalModel, tmp_path: Path) -> None:
    ids = model.prompt(FRANCE)
    base = model.logits(ids)
    adapter = write_adapter(tmp_path / "a.gguf")
    model.set_adapters([AdapterFile(adapter, 1.0)])
    full = model.logits(ids)
    with pytest.raises(AdapterMismatch):
        model.set_adapters([AdapterFile(write_adapter(tmp_path / "b.gguf", alpha=None), 1.0)])
    kept = model.logits(ids)
    model.set_adapters([AdapterFile(adapter, 0.5)])
    half = model.logits(ids)
    model.set_adapters([])
    assert not np.array_equal(base, full)
    assert np.array_equal(full, kept)
    assert not np.array_equal(full, half)
    assert np.array_equal(base, model.logits(ids))


def test_a_text_longer_than_the_context_names_both_sizes(model: LocalModel) -> None:
    with pytest.raises(PromptTooLong) as caught:
        model.score(model.prompt(ask("sea " * 600)), [1])
    assert caught.value.facts["context_size"] == 512


@pytest.mark.parametrize("count", [1, 2, 15, 16, 17, 18, 31, 32, 33, 100])
def test_chunks_cover_a_text_and_leave_no_token_alone(count: int) -> None:
    bounds = chunk_bounds(count, 16)
    assert [place for begin, end in bounds for place in range(begin, end)] == list(range(count))
    assert count == 1 or all(end - begin >= 2 for begin, end in bounds)
    assert math.prod(end - begin <= 16 for begin, end in bounds)
