"""When the model's sentence may stand for what a tool found, and what an answer may cite."""

from __future__ import annotations

import pytest

from app.assistant.faithful import CitationFilter, says_the_result, with_citation
from tools.registry import Source, ToolResult

TIME = ToolResult("It is 18:46.", must_say=("18:46",))
SOURCES = (Source(1, "Otters", "https://a.example/"), Source(2, "Beavers", "https://b.example/"))


@pytest.mark.parametrize(
    ("answer", "stands"),
    [
        ("It is 18:46.", True),
        ("The time is 18:46.", True),
        ("It is 8:46.", False),
        ("It is 18:46, or 6:46 in the evening.", False),
        ("It is 118:46.", False),
        ("The time is now.", False),
        ("18:46 is a wonderful moment to sing old songs about ships and the sea", False),
        ("", False),
    ],
)
def test_an_answer_stands_only_if_it_says_the_result_and_no_other_number(answer: str, stands: bool) -> None:
    assert says_the_result(answer, "What is the time?", TIME, 0.6) is stands


def test_a_sum_inside_a_longer_number_is_not_said() -> None:
    seven = ToolResult("3.5 × 2 = 7", must_say=("7",))
    assert says_the_result("3.5 × 2 = 7", "3.5 x 2", seven, 0.6)
    assert not says_the_result("3.5 × 2 = 77", "3.5 x 2", seven, 0.6)


def test_an_answer_without_a_citation_gets_that_of_the_page_it_resembles() -> None:
    excerpts = ["[1] Otters: they swim in rivers", "[2] Beavers: they build dams of wood"]
    assert with_citation("Beavers build dams.", SOURCES, excerpts) == "Beavers build dams. [2]"
    assert with_citation("Otters swim [1].", SOURCES, excerpts) == "Otters swim [1]."


def test_a_citation_of_no_source_is_dropped_also_when_it_comes_in_pieces() -> None:
    text = "They swim [1][9] and dive [12]. See [this] and [2"
    for size in (1, 2, 5, len(text)):
        checked = CitationFilter(SOURCES)
        shown = "".join(checked.feed(text[at : at + size]) for at in range(0, len(text), size)) + checked.flush()
        assert shown == "They swim [1] and dive . See [this] and [2"
