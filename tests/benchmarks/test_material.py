from __future__ import annotations

import pytest
from markdown_it import MarkdownIt

from benchmarks.decoding import prompt
from benchmarks.markdown_text import answer
from benchmarks.recipe import pairs


def test_the_pairs_are_64_different_questions_with_two_different_answers_each() -> None:
    read = pairs(64)
    assert len({pair["prompt"][-1]["content"] for pair in read}) == 64
    for pair in read:
        assert [message["role"] for message in pair["prompt"]] == ["system", "user"]
        assert pair["chosen"][0]["content"].strip() != pair["rejected"][0]["content"].strip()
    lengths = sorted(len(pair["chosen"][0]["content"]) for pair in read)
    assert lengths[0] < 50 < 300 < lengths[-1]


@pytest.mark.parametrize("characters", [1, 3000, 80_000])
def test_the_streamed_answer_has_the_length_that_was_asked_for(characters: int) -> None:
    assert len(answer(characters)) == characters


def test_the_streamed_answer_holds_code_lists_and_tables() -> None:
    kinds = {token.type for token in MarkdownIt().enable("table").parse(answer(6000))}
    assert {"fence", "table_open", "ordered_list_open", "bullet_list_open", "blockquote_open", "heading_open"} <= kinds


def test_no_two_prompts_share_a_beginning_that_a_cache_could_serve() -> None:
    beginnings = {prompt(40, number)[:12] for number in range(-1, 9)}
    assert len(beginnings) == 10
