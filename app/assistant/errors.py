"""What can be wrong with a question before it reaches the model."""

from __future__ import annotations

from configs.errors import EnlaceError


class QuestionEmpty(EnlaceError):
    """No facts."""

    code = "question_empty"
    exit_code = 2


class QuestionTooBig(EnlaceError):
    """facts: size_kb, longest_kb."""

    code = "question_too_big"
    exit_code = 2


class NotAnAnswer(EnlaceError):
    """What was asked to be corrected or rated is not an answer. facts: id."""

    code = "not_an_answer"
    exit_code = 2
