"""Guessing the next tokens from the question: an answer that quotes it is written several tokens a step.

Prompt lookup decoding (Saxena, 2023; https://github.com/apoorvumang/prompt-lookup-decoding): where the latest tokens
stand in the prompt, what follows them there is tried at once. Only what the sampler would have chosen anyway is kept.
"""

from __future__ import annotations

from collections.abc import Sequence

from configs.sections.engine import EngineSettings


class Lookup:
    """The guesses of one answer: at most ``most`` tokens, where the latest ``match`` stand in ``prompt``.

    Only there: an answer that repeats itself gains nothing beside others, who would wait for it meanwhile.
    It begins with ``first`` tokens, doubles while everything is right, and rests for ``rest`` tokens after a guess that
    was mostly wrong: such a one costs more than it saves.
    """

    def __init__(self, prompt: Sequence[int], *, match: int, first: int, most: int, rest: int) -> None:
        self.match = match
        self._prompt = prompt
        self._first = first
        self._most = most
        self._rest = rest
        self._length = first
        self._resting = 0
        # Of two places the later one counts.
        self._places = {tuple(prompt[end - match : end]): end for end in range(match, len(prompt))}

    @classmethod
    def of(cls, prompt: Sequence[int], settings: EngineSettings) -> Lookup:
        """The guesses of an answer to ``prompt`` as the settings have them."""
        return cls(
            prompt,
            match=settings.lookup_match,
            first=settings.lookup_first,
            most=settings.lookup_tokens,
            rest=settings.lookup_rest,
        )

    def guess(self, latest: Sequence[int], most: int) -> Sequence[int]:
        """What may follow ``latest``, the last ``match`` tokens; at most ``most`` tokens, or none."""
        if self._resting:
            self._resting -= 1
            return ()
        place = self._places.get(tuple(latest))
        return () if place is None else self._prompt[place : place + min(self._length, most)]

    def judge(self, guessed: int, right: int) -> None:
        """Learn how many of the guessed tokens were right."""
        if right == guessed:
            self._length = min(2 * self._length, self._most)
            return
        self._length = self._first
        if 2 * right < guessed:
            self._resting = self._rest
