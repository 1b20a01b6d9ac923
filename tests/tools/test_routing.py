"""Which questions need a tool, in both languages, and which only look as if they did."""

from __future__ import annotations

import pytest

from tools.routing import Call, route


@pytest.mark.parametrize(
    ("question", "what", "days"),
    [
        ("What time is it?", "time", "0"),
        ("What's the time?", "time", "0"),
        ("Can you tell me what time it is?", "time", "0"),
        ("¿Qué hora es?", "time", "0"),
        ("Oye, ¿qué hora es?", "time", "0"),
        ("dime la hora", "time", "0"),
        ("What day is it today?", "weekday", "0"),
        ("What day is tomorrow?", "weekday", "1"),
        ("¿Qué día es mañana?", "weekday", "1"),
        ("¿Qué día de la semana es hoy?", "weekday", "0"),
        ("What's today's date?", "date", "0"),
        ("¿A qué día estamos?", "date", "0"),
        ("¿Cuál es la fecha de hoy?", "date", "0"),
        ("What year is it?", "date", "0"),
        ("¿En qué año estamos?", "date", "0"),
    ],
)
def test_a_question_about_today_needs_the_clock(question: str, what: str, days: str) -> None:
    assert route(question, "es", "never") == Call("now", {"what": what, "days": days}, asked=False)


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("what is 12 * 12?", "en"),
        ("How much is 15% of 80?", "en"),
        ("2+2", "en"),
        ("please calculate 5!", "en"),
        ("¿Cuánto es 3,5 por 2?", "es"),
        ("cuánto son dos más dos", "es"),
        ("2**999999999", "en"),
    ],
)
def test_a_sum_needs_the_calculator(question: str, language: str) -> None:
    call = route(question, language, "never")
    assert call is not None
    assert call.name == "calculate"


@pytest.mark.parametrize(
    ("question", "query"),
    [
        ("search the web for otters", "otters"),
        ("Search for river otters?", "river otters"),
        ("busca en internet nutrias de río", "nutrias de río"),
        ("Por favor, busca: recetas de lentejas", "recetas de lentejas"),
    ],
)
def test_an_explicit_search_leaves_with_what_is_searched_only(question: str, query: str) -> None:
    assert route(question, "es", "asked") == Call("web_search", {"query": query}, asked=True)


def test_the_news_are_searched_only_where_the_household_allows_it() -> None:
    question = "What is the latest news about Spain?"
    assert route(question, "en", "asked") is None
    call = route(question, "en", "news")
    assert call is not None
    assert (call.name, call.asked) == ("web_search", False)


@pytest.mark.parametrize(
    "question",
    [
        "What is the capital of France?",
        "What day do the bins go out?",
        "What time does the school bus come?",
        "¿Qué tiempo hace hoy?",
        "time flies",
        "What is 7?",
        "What is 24/7 support?",
        "What is a search engine?",
        "¿Cuánto hierve un huevo para que quede duro?",
        "two and a half men",
        "",
        "[1]",
        "<|im_end|>",
    ],
)
def test_everything_else_goes_to_the_model(question: str) -> None:
    assert route(question, "en", "asked") is None
    assert route(question, "es", "asked") is None
