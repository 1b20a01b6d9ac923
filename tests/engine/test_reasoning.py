"""What a model thinks is told apart from what it answers, however the text is cut into pieces."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.answers import Delta, Piece, Thought
from engine.reasoning import KNOWN_TAGS, ReasoningReader, Tags
from tests.engine.pieces import cut, joined

THINK, HARMONY = KNOWN_TAGS[0], KNOWN_TAGS[-1]
# Text as written, whether the prompt opened the tag, thoughts, answer.
ANSWERS = [
    ("<think>\nIt is blue.\n</think>\n\nBlue.", False, "It is blue.", "Blue."),
    ("It is blue.\n</think>\n\nBlue.", True, "It is blue.", "Blue."),
    ("<think>It is blue.</think>Blue.", True, "It is blue.", "Blue."),
    ("<think>\n\n</think>\n\nBlue.", False, "", "Blue."),
    ("  \n<think> a < b </thin> c </think>  Blue. ", False, "a < b </thin> c", "Blue. "),
    ("<think>one</think>\n<think>two</think>Blue.", False, "onetwo", "Blue."),
    ("<think>It never ends, and", False, "It never ends, and", ""),
    ("It never ends, and </th", True, "It never ends, and </th", ""),
    ("Blue.", False, "", "Blue."),
    ("  Blue. <think>no</think> ", False, "", "  Blue. <think>no</think> "),
    ("<thinkers> think", False, "", "<thinkers> think"),
    ("<thin", False, "", "<thin"),
    ("", False, "", ""),
    ("", True, "", ""),
    ("<think>niño 👨‍👩‍👧‍👦 漢</think>Ñandú 👨‍👩‍👧‍👦", False, "niño 👨‍👩‍👧‍👦 漢", "Ñandú 👨‍👩‍👧‍👦"),
]


def read(pieces: list[str], tags: Tags, opened: bool) -> tuple[str, str]:
    """Thoughts and answer."""
    reader = ReasoningReader([tags], tags if opened else None)
    found: list[Piece] = [piece for text in pieces for piece in reader.feed(text)]
    found += reader.finish()
    assert all(isinstance(piece, Thought | Delta) and piece.text for piece in found)
    return joined(found, Thought), joined(found, Delta)


@pytest.mark.parametrize("tags", [known for known in KNOWN_TAGS if not known.heads], ids=lambda tags: tags.opening)
@pytest.mark.parametrize(("text", "opened", "thoughts", "answer"), ANSWERS)
def test_thoughts_and_answer_are_told_apart_wherever_the_stream_is_cut(
    tags: Tags, text: str, opened: bool, thoughts: str, answer: str
) -> None:
    def theirs(said: str) -> str:
        return said.replace("<think>", tags.opening).replace("</think>", tags.closing)

    written = theirs(text)
    for pieces in cut(written):
        assert read(pieces, tags, opened) == (theirs(thoughts), theirs(answer)), pieces


@pytest.mark.parametrize(
    ("text", "thoughts", "answer"),
    [
        (
            "<|channel|>analysis<|message|>Sums.<|end|><|start|>assistant<|channel|>final<|message|>Four.",
            "Sums.",
            "Four.",
        ),
        ("<|channel|>final<|message|>Four.", "", "Four."),
        ("<|channel|>analysis<|message|>Sums", "Sums", ""),
        ("Four.", "", "Four."),
    ],
)
def test_the_channels_of_gpt_oss_are_told_apart(text: str, thoughts: str, answer: str) -> None:
    for pieces in cut(text):
        assert read(pieces, HARMONY, opened=False) == (thoughts, answer)


def test_thoughts_are_told_while_they_are_being_thought() -> None:
    reader = ReasoningReader([THINK])
    assert reader.feed("<think>\nFirst, ") == [Thought("First,")]
    assert reader.feed("the sea") == [Thought(" the sea")]


def test_a_model_that_does_not_think_is_passed_on_piece_by_piece() -> None:
    reader = ReasoningReader([])
    assert reader.feed(" <think>") == [Delta(" <think>")]
    assert reader.finish() == []


@given(st.text(alphabet="<thinking/>\n Blue", max_size=60), st.booleans(), st.data())
def test_no_text_is_lost_or_read_in_two_ways(text: str, opened: bool, data: st.DataObject) -> None:
    whole = read([text], THINK, opened)
    places = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    pieces = [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]
    assert read(pieces, THINK, opened) == whole
    left = "".join(text.replace("<think>", "").replace("</think>", "").split())
    kept = "".join("".join(whole).replace("<think>", "").replace("</think>", "").split())
    assert kept == left
