"""Prompt distillation (arXiv 2412.14964): answering without the lesson as the base does with it before its eyes.

The paper's teacher writes the answers itself. Here both read the correction's own text: a small teacher miscopies
what it is shown, the correction is right by definition, and nothing has to be written or checked beforehand. What
is learned beyond the likelihood is how sure to be of each token, and what else could stand there.
"""

from __future__ import annotations

from trainer.objectives.kept import KeptDivergence


class Distillation(KeptDivergence):
    """The teacher is the frozen base with the lesson shown; the trained model is asked without."""

    name = "distillation"
