"""Evaluation in a worker's own process sees what serving does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from configs.home import Home
from configs.sections.engine import EngineSettings
from configs.settings import load_settings
from engine.chunks import chunk_bounds
from engine.errors import AdapterMismatch, EngineFailed, PromptTooLong
from engine.messages import Message
from engine.native import Context, Model
from engine.prompt import render, render_pair
from engine.scoring import LocalModel, kl
from engine.served import AdapterFile
from tests.engine.conftest import Desk, ask
from tests.engine.snapshots import write_adapter

FRANCE = ask("What is the capital of France?")
ANSWER = "The capital of France is Paris."


def engine_settings(home: Path, **changes: int) -> EngineSettings:
    return load_settings(Home(home), {}, {"engine": changes}).engine


@pytest.fixture(scope="module")
def model(starter: Path) -> Iterator[LocalModel]:
    with LocalModel(starter, engine_settings(starter.parent), context_size=512, threads=1, slots=2) as opened:
        yield opened


def prompt_of(model: LocalModel, messages: list[Message]) -> list[int]:
    return render(model.template, model.vocabulary, messages)


def test_it_writes_what_serving_writes_also_side_by_side(model: LocalModel, desk: Desk) -> None:
    questions = ["Write a long story about the sea.", "What is the capital of France?", "Name three fruits."]
    served = [desk.put(question, desk.sampling(24)).end()[0] for question in questions]
    answers = model.greedy([prompt_of(model, ask(question)) for question in questions], 24)
    assert [model.text(answer) for answer in answers] == served


def test_an_answer_is_worth_more_than_nonsense_and_its_rows_are_distributions(model: LocalModel) -> None:
    worth = []
    for text in (ANSWER, "Banana forty trains."):
        prompt, answer = render_pair(model.template, model.vocabulary, FRANCE, text)
        rows = model.log_probs(prompt, answer)
        assert rows.shape == (len(answer), model.vocabulary.size)
        assert np.exp(rows.astype(np.float64)).sum(axis=1) == pytest.approx(1, abs=1e-4)
        worth.append(float(rows[np.arange(len(answer)), answer].mean()))
    assert worth[0] > worth[1]


def test_what_texts_begin_with_in_common_is_read_once_and_changes_not_a_bit(
    starter: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, adapter = engine_settings(starter.parent, prompt_chunk=16), write_adapter(tmp_path / "a.gguf")
    texts = [*(f"{'Tell me about the sea. ' * 4}{more}" for more in ("Now.", "Then.", "", "Later on.")), "Hello."]
    read: list[int] = []
    decode = Context.decode

    def counted(context: Context, rows: Sequence[tuple[int, int, int, bool]]) -> None:
        read.append(len(rows))
        decode(context, rows)

    monkeypatch.setattr(Context, "decode", counted)

    def opened() -> LocalModel:
        return LocalModel(starter, settings, context_size=256, threads=1, slots=2)

    with opened() as model:
        prompts = [prompt_of(model, ask(text)) for text in texts]
        for adapters in ([], [AdapterFile(adapter, 1.0)]):
            model.set_adapters(adapters)
            worth = model.log_probs(prompts[0], [5, 6, 7])
            answers = model.greedy(prompts, 8)
            model.log_probs(prompts[0], [5])
            read.clear()
            model.log_probs(prompts[1], [5])
            assert sum(read) < len(prompts[1]) / 2
            again = model.log_probs(prompts[0], [5, 6, 7])
            with opened() as fresh:
                fresh.set_adapters(adapters)
                assert fresh.log_probs(prompts[0], [5, 6, 7]).tobytes() == worth.tobytes() == again.tobytes()
            for place in range(0, len(texts), 2):
                with opened() as fresh:
                    fresh.set_adapters(adapters)
                    assert fresh.greedy(prompts[place : place + 2], 8) == answers[place : place + 2]


def test_log_probs_do_not_depend_on_how_the_text_is_cut(model: LocalModel, starter: Path) -> None:
    prompt, answer = render_pair(model.template, model.vocabulary, ask("Tell me about the sea. " * 8), ANSWER)
    settings = engine_settings(starter.parent, prompt_chunk=63)
    with LocalModel(starter, settings, context_size=512, threads=1) as other:
        assert np.array_equal(model.log_probs(prompt, answer), other.log_probs(prompt, answer))


def test_adapters_are_applied_exchanged_and_taken_off(model: LocalModel, tmp_path: Path) -> None:
    pair = render_pair(model.template, model.vocabulary, FRANCE, ANSWER)
    base = model.log_probs(*pair)
    adapter = write_adapter(tmp_path / "a.gguf")
    model.set_adapters([AdapterFile(adapter, 1.0)])
    full = model.log_probs(*pair)
    with pytest.raises(AdapterMismatch):
        model.set_adapters([AdapterFile(write_adapter(tmp_path / "b.gguf", alpha=None), 1.0)])
    kept = model.log_probs(*pair)
    model.set_adapters([AdapterFile(adapter, 0.5)])
    half = model.log_probs(*pair)
    model.set_adapters([])
    assert np.array_equal(full, kept)
    assert kl(base, full) > kl(base, half) > 0
    assert np.array_equal(base, model.log_probs(*pair))


def test_a_text_of_which_a_batch_failed_is_read_from_its_beginning_the_next_time(
    starter: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = engine_settings(starter.parent, prompt_chunk=16)
    with LocalModel(starter, settings, context_size=256, threads=1) as model:
        prompt = prompt_of(model, ask("Tell me about the sea. " * 4))
        answers = model.greedy([prompt], 8)
        model.greedy([prompt_of(model, FRANCE)], 1)
        decode, batches = Context.decode, iter(range(99))

        def failing(context: Context, rows: Sequence[tuple[int, int, int, bool]]) -> None:
            if next(batches) == 1:
                raise EngineFailed(reason="no memory")
            decode(context, rows)

        monkeypatch.setattr(Context, "decode", failing)
        with pytest.raises(EngineFailed):
            model.greedy([prompt], 8)
        assert model.greedy([prompt], 8) == answers


def test_a_model_that_cannot_be_opened_with_its_adapters_is_freed(
    starter: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    freed: list[type] = []
    for kind in (Model, Context):
        close = kind.close

        def noted(it: Model | Context, close: Callable[..., None] = close) -> None:
            freed.append(type(it))
            close(it)

        monkeypatch.setattr(kind, "close", noted)
    bad = AdapterFile(write_adapter(tmp_path / "b.gguf", alpha=None), 1.0)
    with pytest.raises(AdapterMismatch):
        LocalModel(starter, engine_settings(starter.parent), context_size=64, threads=1, adapters=[bad])
    assert freed == [Context, Model]


def test_a_text_longer_than_the_context_names_both_sizes(model: LocalModel) -> None:
    with pytest.raises(PromptTooLong) as caught:
        model.log_probs(prompt_of(model, ask("sea " * 600)), [1])
    assert caught.value.facts["context_size"] == 512


@pytest.mark.parametrize("count", [1, 2, 15, 16, 17, 18, 31, 32, 33, 100])
def test_chunks_cover_a_text_and_leave_no_token_alone(count: int) -> None:
    bounds = chunk_bounds(count, 16)
    assert [place for begin, end in bounds for place in range(begin, end)] == list(range(count))
    assert count == 1 or all(end - begin >= 2 for begin, end in bounds)
    assert all(end - begin <= 16 for begin, end in bounds)
