"""Telling what a thinking model thinks apart from what it answers, while both are still being written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.answers import Delta, Piece, Thought
from engine.text import doubtful


@dataclass(frozen=True)
class Tags:
    """What a family of models thinks between.

    ``sign``: what shows in a template (or as a token of the vocabulary) that the model is of that family.
    ``heads``: what such a model writes before its answer, beside its thoughts; no part of either.
    ``control_texts``: control tokens that the tags are made of, in the vocabularies where they are control tokens.
    """

    opening: str
    closing: str
    sign: str
    heads: tuple[str, ...] = ()
    control_texts: tuple[str, ...] = ()


def _tags(opening: str, closing: str) -> Tags:
    return Tags(opening, closing, closing, control_texts=(opening, closing))


KNOWN_TAGS = (
    _tags("<think>", "</think>"),
    _tags("<thinking>", "</thinking>"),
    _tags("<seed:think>", "</seed:think>"),
    _tags("<mm:think>", "</mm:think>"),
    _tags("[THINK]", "[/THINK]"),
    _tags("<|START_THINKING|>", "<|END_THINKING|>"),
    _tags("<|inner_prefix|>", "<|inner_suffix|>"),
    Tags("Here are my reasoning steps:\n", "[BEGIN FINAL RESPONSE]", "[BEGIN FINAL RESPONSE]"),
    Tags("<|channel>thought\n", "<channel|>", "<|channel>thought", control_texts=("<|channel>", "<channel|>")),
    Tags(
        "<|channel|>analysis<|message|>",
        "<|end|>",
        "<|channel|>analysis<|message|>",
        heads=("<|start|>assistant", "<|channel|>final<|message|>"),
        control_texts=("<|channel|>", "<|message|>", "<|end|>", "<|start|>"),
    ),
)


class ReasoningReader:
    """Splits one answer, given in pieces of any size, into thoughts and text.

    Thoughts come first: a tag in the middle of the answer is text like any other. ``opened``: the prompt has opened
    these tags already. Blanks around thoughts belong to neither.
    """

    def __init__(self, tags: Sequence[Tags], opened: Tags | None = None) -> None:
        self._tags = tags
        self._opened = opened
        self._inside: Tags | None = None
        self._held = ""
        self._thought = False  # whether anything of this run of thoughts was given out
        self._after_tags = opened is not None
        self._answering = not tags

    def feed(self, text: str) -> list[Piece]:
        """What became certain with ``text``."""
        return self._read(text, last=False)

    def finish(self) -> list[Piece]:
        """What was still held when the answer ended."""
        return self._read("", last=True)

    def _read(self, text: str, *, last: bool) -> list[Piece]:
        self._held += text
        pieces: list[Piece] = []
        while not self._answering and self._step(pieces, last):
            pass
        if self._answering and self._held:
            pieces.append(Delta(self._held))
            self._held = ""
        return pieces

    def _step(self, pieces: list[Piece], last: bool) -> bool:
        """One step towards the answer; whether another one can follow at once."""
        return self._think(pieces, last) if self._inside else self._begin(last)

    def _begin(self, last: bool) -> bool:
        """What stands at the beginning, or after a thought: a tag, a head of the answer, or the answer."""
        found = self._held.lstrip()
        openings = {tags.opening: tags for tags in self._tags}
        heads = {head for tags in self._tags for head in tags.heads}
        for mark in (*openings, *heads):
            if found.startswith(mark):
                self._held = found[len(mark) :]
                self._inside = openings.get(mark)
                self._opened, self._thought, self._after_tags = None, False, True
                return True
        if not last and (not found or any(mark.startswith(found) for mark in (*openings, *heads))):
            return False
        if self._opened is not None:
            self._inside, self._opened, self._thought = self._opened, None, False
            return True
        self._answering = True
        if self._after_tags:
            self._held = found
        return False

    def _think(self, pieces: list[Piece], last: bool) -> bool:
        tags = self._inside
        if tags is None:
            return False
        if not self._thought:
            self._held = self._held.lstrip()
        place = self._held.find(tags.closing)
        if place >= 0:
            thought, self._held = self._held[:place].rstrip(), self._held[place + len(tags.closing) :]
            self._inside = None
        elif last:
            thought, self._held = self._held.rstrip(), ""
        else:
            certain = self._held[: len(self._held) - doubtful(self._held, (tags.closing,))].rstrip()
            thought, self._held = certain, self._held[len(certain) :]
        if thought:
            self._thought = True
            pieces.append(Thought(thought))
        return place >= 0
