"""Markdown becomes the same rows however it arrives, none wider than the screen, at a cost that does not grow."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from app.interface.markdown.document import Document
from app.interface.markdown.lines import Look, Span, breaks, wrap
from app.interface.markdown.reader import Bounds

BOUNDS = Bounds(paragraph=200, table_rows=3)
PIECES = [
    *("# Título\n", "## Otro\n", "párrafo con **fuerte**, *cursiva* y `código`\n", "\n", "- uno\n", "  - dentro\n"),
    *(
        "1. primero\n",
        "2) segundo\n",
        "   sigue\n",
        "> cita\n",
        ">> doble\n",
        "```python\n",
        "def f():  # nota\n",
        "```\n",
    ),
    *(
        "| a | b |\n",
        "|---|--:|\n",
        "| x | 1 |\n",
        "***\n",
        "    sangrado\n",
        "\n\n",
        "- [ ] falta\n",
        "漢字かな交じり文 ",
    ),
    *(
        "👨‍👩‍👧‍👦 ",
        "[1] ",
        "[/b] ",
        "[enlace](http://a.b) ",
        '{"a": [1]} ',
        "x" * 90,
        "palabra " * 12,
        "~~~\n",
        "'''\n",
    ),
]
markdown = st.lists(st.sampled_from(PIECES), max_size=25).map("".join)


def rows(text: str, width: int = 60) -> list[str]:
    return [line.text.rstrip() for line in Document.of(text, BOUNDS, width).lines]


@settings(deadline=None)
@given(markdown, st.integers(4, 90), st.lists(st.integers(1, 30), min_size=1, max_size=12))
@example("a | b\n--|--\n1 | 2\n", 20, [1])
@example("```\n``", 20, [1])
def test_streaming_in_any_pieces_gives_the_rows_of_the_whole(text: str, width: int, sizes: list[int]) -> None:
    document = Document(BOUNDS, width)
    at, turn = 0, 0
    while at < len(text):
        size = sizes[turn % len(sizes)]
        document.feed(text[at : at + size])
        if turn % 2:
            before = list(document.lines)
            first = document.refresh()
            assert document.lines[:first] == before[:first]
        at, turn = at + size, turn + 1
    document.refresh()
    assert document.lines == Document.of(text, BOUNDS, width).lines


@settings(deadline=None)
@given(markdown, st.integers(16, 90))
def test_no_row_is_wider_than_the_screen(text: str, width: int) -> None:
    assert all(cell_len(line.text) <= width for line in Document.of(text, BOUNDS, width).lines)


@settings(deadline=None)
@given(markdown, st.integers(8, 40), st.integers(8, 90))
def test_another_width_gives_the_rows_of_that_width(text: str, narrow: int, wide: int) -> None:
    document = Document.of(text, BOUNDS, narrow)
    document.resize(wide)
    assert document.lines == Document.of(text, BOUNDS, wide).lines


@settings(deadline=None)
@given(
    st.lists(st.sampled_from(["a", "b", " ", "ñ", "漢", "👨‍👩‍👧", "\t"]), max_size=80).map("".join), st.integers(2, 20)
)
def test_wrapping_loses_nothing_but_the_blanks_at_breaks(text: str, width: int) -> None:
    text = text.expandtabs(4)
    cut = breaks(text, width)
    assert all(cell_len(text[start:end]) <= width for start, end in cut)
    assert "".join(text[start:end] for start, end in cut).replace(" ", "") == text.replace(" ", "")


@pytest.mark.parametrize(
    "text", ["[/b] y [link=x]z", '{"a": [1], "b": "[x]"}', "ver [1] y [2]", "<b>no</b> & más", "2 * 3 * 4"]
)
def test_what_looks_like_other_markup_is_shown_as_written(text: str) -> None:
    assert rows(text) == [text]


def test_blocks_are_told_apart() -> None:
    text = "# Uno\nTexto **fuerte**\nsigue\n\n- a\n  - b\n\n1. c\n\n> d\n\n```py\nx = 1\n```\n\n"
    text += "|h|n|\n|-|-:|\n|v|12|\n\n---\nfin"
    expected = [
        "Uno",
        "Texto fuerte",
        "sigue",
        "",
        "• a",
        "  ◦ b",
        "",
        "1. c",
        "",
        "▌ d",
        "",
        " py",
        " x = 1",
        "",
        "h │  n",
    ]
    assert rows(text)[:15] == expected
    assert rows(text)[15:17] == ["──┼───", "v │ 12"]
    assert rows(text)[-1] == "fin"


def test_a_link_shows_where_it_leads() -> None:
    assert rows("[aquí](https://a.b/c)") == ["aquí (https://a.b/c)"]
    assert rows("<https://a.b/c>") == ["https://a.b/c"]


def test_code_is_coloured_and_what_spans_lines_is_remembered() -> None:
    document = Document.of('```python\nx = """uno\ndos""" # tres\nreturn 4\n```', BOUNDS, 60)
    looks = {span.text: span.look for line in document.lines for span in line.spans}
    assert looks['dos"""'] == Look.STRING
    assert looks["# tres"] == Look.COMMENT
    assert looks["return"] == Look.KEYWORD
    assert looks["4"] == Look.NUMBER


def test_a_table_too_wide_for_its_columns_becomes_a_list() -> None:
    text = "| nombre | edad | ciudad | animal |\n|-|-|-|-|\n| Ana | 9 | Vigo | gato |"
    assert rows(text, 24)[:4] == ["nombre: Ana", "edad: 9", "ciudad: Vigo", "animal: gato"]


@pytest.mark.parametrize("unit", ["x = f(1)  # hola\n", "| uno | dos |\n", "palabra **fuerte** ", "- punto\n", "x"])
def test_only_what_is_open_is_laid_out_again_however_long_the_answer(unit: str) -> None:
    opening = {"x": "```py\n", "|": "|a|b|\n|-|-|\n"}.get(unit[0], "") if "\n" in unit else ""
    document = Document(Bounds(paragraph=1200, table_rows=40), 80)
    document.feed(opening + unit * (60_000 // len(unit)))
    document.refresh()
    total = len(document.lines)
    document.feed(unit)
    assert total - document.refresh() <= 1200 // 8


def test_wrapped_rows_say_that_they_go_on() -> None:
    joins = [line.joins for line in wrap([Span("uno dos tres\ncuatro")], 8)]
    assert joins == [False, True, False]
