"""Guessing the next tokens from what was said before: an answer that quotes is written several tokens a step.

Prompt lookup decoding (Saxena, 2023; https://github.com/apoorvumang/prompt-lookup-decoding): where the latest tokens
have stood before, what followed them then is tried at once. Only what the sampler would have chosen anyway is kept.
"""

from __future__ import annotations

from collections.abc import Sequence


class Lookup:
    """The guesses of one answer: at most ``most`` tokens, where the latest ``match`` have stood before.

    It begins with ``first`` tokens, doubles while everything is right, and rests for ``rest`` tokens after a guess that
    was wrong from the start: a guess that fails costs more than it saves.
    """

    def __init__(self, *, match: int, first: int, most: int, rest: int) -> None:
        self._match = match
        self._first = first
        self._most = most
        self._rest = rest
        self._length = first
        self._resting = 0
        self._places: dict[tuple[int, ...], int] = {}
        self._known = match

    def guess(self, text: Sequence[int], most: int) -> list[int]:
        """What may follow ``text``, which only ever grows between two calls; at most ``most`` tokens, or none."""
        # What the latest tokens were followed by is not known yet, so they are not entered.
        while self._known < len(text):
            self._places[tuple(text[self._known - self._match : self._known])] = self._known
            self._known += 1
        if self._resting:
            self._resting -= 1
            return []
        place = self._places.get(tuple(text[len(text) - self._match :]))
        return [] if place is None else [*text[place : place + min(self._length, most)]]

    def judge(self, guessed: int, right: int) -> None:
        """Learn how many of the guessed tokens were right."""
        if right == guessed:
            self._length = min(2 * self._length, self._most)
            return
        self._length = self._first
        if 2 * right < guessed:
            self._resting = self._rest
