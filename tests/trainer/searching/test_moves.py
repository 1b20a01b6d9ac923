"""Which numbers are tried next, and which training is the best."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import pytest

from configs.home import Home
from configs.sections.searching import SearchSettings
from configs.settings import load_settings
from trainer.searching.choice import Choice
from trainer.searching.moves import Score, Trial, best_of, next_choice

START = Choice(3e-4, 8, 16)
MOST_KL = 0.12


@pytest.fixture
def settings(home: Home) -> SearchSettings:
    changes = {"enough": 0.95, "rate_factor": 2.0, "epochs_step": 2, "rank_factor": 2}
    return load_settings(home, {}).training.search.model_copy(update=changes)


def trial(choice: Choice, right: float, nats: float = 1.0, kl: float = 0.05) -> Trial:
    return Trial(choice, Score(right, nats, kl), 60.0)


def order(settings: SearchSettings, gives: Callable[[Choice], Score | None], most: int = 12) -> list[Choice]:
    """What is tried, in its order, where a training by a choice gives this."""
    trials: list[Trial] = []
    choice: Choice | None = START
    while choice is not None and len(trials) < most:
        trials.append(Trial(choice, gives(choice), 60.0))
        choice = next_choice(trials, settings, MOST_KL)
    return [each.choice for each in trials]


def test_the_first_that_is_good_enough_is_the_last(settings: SearchSettings) -> None:
    assert order(settings, lambda choice: Score(0.96, 0.5, 0.1)) == [START]


def test_what_did_not_learn_enough_is_followed_by_stronger_ones_then_by_gentler_ones(settings: SearchSettings) -> None:
    assert order(settings, lambda choice: Score(0.5, 1.0, 0.05)) == [
        START,
        replace(START, learning_rate=6e-4),
        replace(START, learning_rate=4.24e-4),
        replace(START, epochs=10),
        replace(START, rank=32),
        replace(START, learning_rate=1.5e-4),
        replace(START, learning_rate=2.12e-4),
        replace(START, epochs=6),
        replace(START, rank=8),
    ]


def test_what_broke_the_rest_is_followed_by_gentler_ones_alone(settings: SearchSettings) -> None:
    gentler = [
        START,
        replace(START, learning_rate=1.5e-4),
        replace(START, learning_rate=2.12e-4),
        replace(START, epochs=6),
        replace(START, rank=8),
    ]
    assert order(settings, lambda choice: Score(1.0, 0.1, 0.5)) == gentler
    assert order(settings, lambda choice: None) == gentler


@pytest.mark.parametrize("factor", [0.1, 0.3, 3.0, 10.0])
def test_a_rate_that_is_ten_times_too_low_or_too_high_is_found(settings: SearchSettings, factor: float) -> None:
    def gives(choice: Choice) -> Score:
        """Learned at 3e-4 and above it, at the price of a KL that grows with the square."""
        relative = choice.learning_rate / (START.learning_rate / factor)
        return Score(min(1.0, relative), 1 / relative, 0.05 * relative**2)

    tried = order(settings, gives)
    assert len(tried) <= 6
    assert gives(tried[-1]).unrelated_kl <= MOST_KL
    assert gives(tried[-1]).right >= 0.95


def test_what_is_better_is_gone_on_from(settings: SearchSettings) -> None:
    tried = order(settings, lambda choice: Score(0.5, 10 - choice.rank / 100, 0.05), most=6)
    assert tried[4:6] == [replace(START, rank=32), replace(START, learning_rate=6e-4, rank=32)]


def test_no_choice_has_less_than_one_epoch_or_direction(settings: SearchSettings) -> None:
    least = Trial(Choice(3e-4, 1, 1), None, 60.0)
    gentler = next_choice([least], settings, MOST_KL)
    assert gentler == Choice(1.5e-4, 1, 1)
    between = Trial(Choice(2.12e-4, 1, 1), None, 60.0)
    assert next_choice([least, Trial(gentler, None, 60.0), between], settings, MOST_KL) is None


def test_the_best_keeps_the_rest_first_then_answers_then_is_sure() -> None:
    broke = Trial(START, None, 60.0)
    far, near = trial(replace(START, epochs=1), 1.0, 0.1, kl=0.5), trial(replace(START, epochs=2), 0.9, 0.1, kl=0.2)
    little, more = trial(replace(START, epochs=3), 0.1), trial(replace(START, epochs=4), 0.2)
    sure = trial(replace(START, epochs=5), 0.2, nats=0.9)
    ranked = [broke, far, near, little, more, sure]
    for place in range(1, len(ranked)):
        assert best_of(ranked[: place + 1], MOST_KL) == ranked[place]
        assert best_of(ranked[: place + 1][::-1], MOST_KL) == ranked[place]
    same = replace(sure, choice=START)
    assert best_of([sure, same], MOST_KL) == sure
    assert best_of([trial(START, 0.5, kl=math.nextafter(MOST_KL, 1)), little], MOST_KL) == little
