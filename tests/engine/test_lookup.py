"""What follows is guessed only where the question says it, and a wrong guess makes careful."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from configs.home import Home
from configs.sections.engine import EngineSettings
from engine.lookup import Lookup
from tests.engine.conftest import desk_of_its_own
from tests.engine.snapshots import write_adapter

TEXT = (
    "The lighthouse of Cabo Mayor was built in 1839 near Santander. Its lamp can be seen from 21 miles away. "
    "The keeper climbs 151 steps every evening and writes the height of the waves into a green book."
)


def lookup(prompt: list[int], *, most: int = 8) -> Lookup:
    return Lookup(prompt, match=2, first=2, most=most, rest=3)


def test_what_follows_the_latest_tokens_in_the_prompt_is_guessed() -> None:
    assert lookup([1, 2, 3, 4, 5]).guess([1, 2], 8) == [3, 4]
    assert lookup([1, 2, 3, 4, 5]).guess([1, 2], 1) == [3]
    assert not lookup([1, 2, 3, 4, 5]).guess([2, 1], 8)
    assert not lookup([1, 2, 3, 4, 5]).guess([4, 5], 8)
    assert not lookup([1]).guess([1], 8)


def test_of_two_places_the_later_one_counts() -> None:
    assert lookup([1, 2, 3, 1, 2, 4, 1]).guess([1, 2], 8) == [4, 1]


def test_guesses_grow_while_they_are_right_and_rest_when_they_are_wrong() -> None:
    guesses = lookup([1, 2, 3, 4, 5, 6, 7, 8, 9], most=5)
    for length in (2, 4, 5, 5):
        assert len(guesses.guess([1, 2], 8)) == length
        guesses.judge(length, length)
    guesses.judge(5, 1)
    assert not any(guesses.guess([1, 2], 8) for _ in range(3))
    assert len(guesses.guess([1, 2], 8)) == 2


def test_an_answer_that_quotes_takes_fewer_steps_and_says_the_same(
    engine_settings: EngineSettings, tmp_path: Path, starter: Path
) -> None:
    adapter = write_adapter(tmp_path / "a.gguf", strength=1e-4)

    def quote(tokens: int) -> tuple[str, int, int]:
        settings = engine_settings.model_copy(update={"lookup_tokens": tokens})
        with desk_of_its_own(settings, Home(tmp_path / str(tokens)), starter, adapter) as desk:
            context, batches = desk.scheduler.loaded.context, 0
            decode = context.decode

            def count(rows: list[tuple[int, int, int, bool]]) -> None:
                nonlocal batches
                batches += 1
                decode(rows)

            context.decode = count  # type: ignore[method-assign,assignment]
            sampling = dataclasses.replace(desk.sampling(60), repeat_penalty=1.0)
            text, finished = desk.put(f"Repeat this text word for word:\n{TEXT}", sampling).end()
            return text, finished.usage.answer_tokens, batches

    plain, written, one_by_one = quote(0)
    guessed, as_many, fewer = quote(15)
    assert (guessed, as_many) == (plain, written)
    assert fewer < 0.7 * one_by_one
