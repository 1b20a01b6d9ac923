"""Which numbers are tried next, by what those before gave: one small move from the best of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from configs.sections.searching import SearchSettings
from trainer.searching.choice import Choice


@dataclass(frozen=True)
class Score:
    """What a training gave, by the lessons' questions and by wordings and prompts that the gate does not use.

    ``right``: share of the answers that are right; ``nats`` a token that the right answers cost; ``unrelated_kl``: nats
    a token from what it was trained over.
    """

    right: float
    nats: float
    unrelated_kl: float


@dataclass(frozen=True)
class Trial:
    """A training by ``choice``, which took ``seconds``. ``score`` None: it broke, by error ``code`` with ``facts``."""

    choice: Choice
    score: Score | None
    seconds: float
    code: str = ""
    facts: Mapping[str, Any] | None = None


def best_of(trials: Sequence[Trial], most_kl: float) -> Trial:
    """The best of some trials, the earliest of equal ones.

    First whether the rest of the model is kept, which is a KL of at most ``most_kl``; then the answers that are right,
    and how likely the right ones are. Of those that do not keep it, the one that is nearest to that.
    """

    def merit(trial: Trial) -> tuple[float, ...]:
        if trial.score is None:
            return (0.0,)
        if trial.score.unrelated_kl > most_kl:
            return (1.0, -trial.score.unrelated_kl)
        return (2.0, trial.score.right, -trial.score.nats)

    return max(trials, key=merit)


def next_choice(
    trials: Sequence[Trial], settings: SearchSettings, most_kl: float, *, same_rank: bool = False
) -> Choice | None:
    """What to try after ``trials``; None where the best is good enough, or nothing around it is new.

    ``same_rank``: what is trained has a rank that stays.

    One that broke the rest of the model is followed by gentler ones; one that did not learn enough by stronger ones,
    then by the others.
    """
    best = best_of(trials, most_kl)
    too_far = best.score is None or best.score.unrelated_kl > most_kl
    if best.score is not None and not too_far and best.score.right >= settings.enough:
        return None
    gentler, stronger = _gentler(best.choice, settings), _stronger(best.choice, settings)
    tried = {trial.choice for trial in trials}
    around = gentler if too_far else (*stronger, *gentler)
    new = (choice for choice in around if choice not in tried)
    return next((choice for choice in new if choice.rank == best.choice.rank or not same_rank), None)


def _stronger(choice: Choice, settings: SearchSettings) -> Sequence[Choice]:
    return (
        _at_rate(choice, settings.rate_factor),
        # Between two of which one does not learn enough and the other breaks the rest.
        _at_rate(choice, math.sqrt(settings.rate_factor)),
        replace(choice, epochs=choice.epochs + settings.epochs_step),
        replace(choice, rank=choice.rank * settings.rank_factor),
    )


def _gentler(choice: Choice, settings: SearchSettings) -> Sequence[Choice]:
    return (
        _at_rate(choice, 1 / settings.rate_factor),
        _at_rate(choice, 1 / math.sqrt(settings.rate_factor)),
        replace(choice, epochs=max(1, choice.epochs - settings.epochs_step)),
        replace(choice, rank=max(1, choice.rank // settings.rank_factor)),
    )


def _at_rate(choice: Choice, factor: float) -> Choice:
    # Up and down again is the same rate, to the last bit.
    return replace(choice, learning_rate=float(f"{choice.learning_rate * factor:.3g}"))
