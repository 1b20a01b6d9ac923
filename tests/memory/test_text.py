"""Folding, words, and queries that are safe against any text."""

from __future__ import annotations

import sqlite3
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.text import Query, columns, fold, folded_words, snippet, storable

AWKWARD = [
    *("C++", "AT&T", "don't", "AND", "OR", "NOT", "*", '"unbalanced', "NEAR(", "NEAR(a b, 2)", "a", "ñ", "", " ", "-x"),
    *(
        "\x00",
        "a\x00b",
        "c++\x00",
        "exact : x",
        "folded:",
        "^a",
        "a*",
        "{a b}",
        "👨‍👩‍👧‍👦",
        "漢字",
        "مرحبا",
        "\u202e",
        "\ud800",
        "x" * 10_000,
    ),
    *("' OR 1=1 --", "(((", ")", "+", "\\", "a" * 200 + " b" * 3000),
]


def table() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    connection.execute(
        "CREATE VIRTUAL TABLE t USING fts5 (exact, folded, content = '',"
        " tokenize = \"unicode61 remove_diacritics 0 categories 'L* M* N* P* S* Co'\")"
    )
    return connection


@pytest.fixture(scope="module")
def fts() -> sqlite3.Connection:
    return table()


@pytest.mark.parametrize("text", ["Núñez", "NUNEZ", unicodedata.normalize("NFD", "Núñez"), "nuñez", "Ｎúñez"])
def test_a_name_folds_to_the_same_however_it_is_written(text: str) -> None:
    assert fold(text) == "nunez"


@given(st.text())
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(st.text())
def test_folding_does_not_depend_on_how_accents_are_encoded(text: str) -> None:
    composed, taken_apart = (unicodedata.normalize(form, text) for form in ("NFC", "NFD"))
    assert folded_words(composed) == folded_words(taken_apart)


def accepted(fts: sqlite3.Connection, text: str) -> None:
    query = Query(storable(text), longest=1000, most_terms=32)
    expressions = [query.all_exact(), query.all_folded(), query.all_beginning(3)]
    for expression in filter(None, expressions):
        fts.execute("SELECT rowid FROM t WHERE t MATCH ?", (expression,)).fetchall()


@pytest.mark.parametrize("text", AWKWARD)
def test_an_awkward_search_is_a_search(fts: sqlite3.Connection, text: str) -> None:
    accepted(fts, text)


@given(st.text(st.characters()))
def test_any_text_is_a_search(text: str) -> None:
    accepted(table(), text)


@given(st.text(min_size=1))
def test_any_text_with_words_is_found_by_itself(text: str) -> None:
    connection = table()
    connection.execute("INSERT INTO t (rowid, exact, folded) VALUES (1, ?, ?)", columns(text))
    query = Query(text, longest=10_000, most_terms=1000)
    # SQLite knows the letters of an older Unicode than Python, and takes later ones for gaps between words.
    if query.terms and all(unicodedata.ucd_3_2_0.category(c) != "Cn" for c in unicodedata.normalize("NFKD", text)):
        assert connection.execute("SELECT rowid FROM t WHERE t MATCH ?", (query.all_folded(),)).fetchall() == [(1,)]


@given(st.text(st.characters()))
def test_what_is_stored_can_be_written_as_utf8_and_differs_only_in_lone_surrogates(text: str) -> None:
    stored = storable(text)
    stored.encode()
    assert len(stored) == len(text)
    assert all(a == b or (b == "\ufffd" and "\ud800" <= a <= "\udfff") for a, b in zip(text, stored, strict=True))


def test_a_snippet_shows_the_text_around_the_word_and_where_the_word_stands() -> None:
    text = "bla " * 100 + "el señor Núñez [b]llegó[/b] " + "bla " * 100
    query = Query("nunez", longest=100, most_terms=5)
    stretch, marks = snippet(text, lambda word: query.marked(word, 3), width=80)
    assert "[b]llegó[/b]" in stretch
    assert [stretch[start:end] for start, end in marks] == ["Núñez"]
    assert len(stretch) <= 82


@given(st.text(), st.text(min_size=1, max_size=5))
def test_the_marks_of_a_snippet_lie_inside_it(text: str, search: str) -> None:
    query = Query(search, longest=100, most_terms=5)
    stretch, marks = snippet(text, lambda word: query.marked(word, 3), width=40)
    assert all(0 <= start < end <= len(stretch) for start, end in marks)
