"""From "search …" to a cited answer: the real worker and model, and a local service in the place of the internet."""

from __future__ import annotations

import pytest

from app.session import Session
from tests.app.conftest import answer_to
from tests.tools.service import Service, serving
from tools.search_store import SearchStore

pytestmark = pytest.mark.timeout(120)

PAGES = [
    ("Otters", "https://a.example/otters", "Otters are mammals that live in rivers and eat fish."),
    ("Beavers", "https://b.example/beavers", "Beavers build dams of wood across rivers."),
]


def searching(talking: Session, service: Service) -> Session:
    """The same member, in a household that searches with ``service`` alone."""
    options = {"tools": {"search": {"backends": ["duckduckgo"], "addresses": {"duckduckgo": service.address}}}}
    return Session(talking.environ, member=talking.member.name, options=options)


async def test_a_search_is_answered_from_what_it_found_with_its_sources(talking: Session) -> None:
    with serving() as service, searching(talking, service) as session:
        service.results = PAGES
        done = await answer_to(session.assistant(), "search the web for what otters eat")
        assert [source.url for source in done.sources] == [url for _, url, _ in PAGES]
        assert "[1]" in done.text or "[2]" in done.text
        assert done.text.strip() not in ("[1]", "[2]")
        stored = session.memory.chats.message(done.answer_id)
        assert (stored.content, stored.meta["sources"][0]["url"]) == (done.text, PAGES[0][1])
        assert service.asked[0]["q"] == ["what otters eat"]


async def test_a_refused_search_ends_in_a_sentence_and_everything_else_goes_on(talking: Session) -> None:
    with serving() as service, searching(talking, service) as session:
        service.status = 202
        assistant = session.assistant()
        assert "wait" in (await answer_to(assistant, "search for beavers")).text
        assert "Paris" in (await answer_to(assistant, "What is the capital of France?")).text
        store = SearchStore(session.home.search_db, session.settings.tools.search, lambda: 0.0)
        assert list(store.pauses()) == ["duckduckgo"]


async def test_nothing_leaves_the_house_unasked(talking: Session) -> None:
    with serving() as service, searching(talking, service) as session:
        service.results = PAGES
        await answer_to(session.assistant(), "What is the latest news about otters?")
        assert service.asked == []
