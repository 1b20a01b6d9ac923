"""People, documents and the graph on the screen: read, decided, walked and forgotten by keys."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from rich.text import Text

from app.documents import add_documents
from app.interface.memory import documents
from app.interface.memory.documents import DocumentsPane
from app.interface.memory.graph import GraphPane
from app.interface.memory.kept_facts import KeptFacts
from app.interface.memory.people import PeoplePane
from app.interface.memory.searched_pane import SearchedPane
from app.session import Session
from configs.home import Home
from memory.fact_list import FactList
from memory.fact_rows import FactRows
from memory.visibility import Visibility
from tests.app.interface.conftest import Opener, Person
from trainer.reading.worker import ReadingWorker

NOTE = "Adela Forcano trabaja en la empresa Forjas Navarra. Adela Forcano vive en Pamplona.\n"
OTHER = "# Reunión\n\nAdela Forcano vive en Teruel.\n"


@pytest.fixture
def named(home: Home, tmp_path: Path) -> None:
    """Two documents that may speak of one person or of two, one that cannot be read, and a fact."""
    papers = tmp_path / "papers"
    papers.mkdir()
    (papers / "nota.md").write_text(NOTE)
    (papers / "otra.md").write_text(OTHER)
    (papers / "rota.yaml").write_text("solo una frase")
    with Session({"ENLACE_HOME": str(home.root)}) as session:
        session.household.members.add("Ana", "es")
        session.memory.facts.add("Mi prima Rosa vive lejos", subject="Rosa")
        add_documents(session, papers, shared=True)
        worker = ReadingWorker(
            session.household, session.settings, [session.member.id], lambda: False, lambda: None, None
        )
        worker.by_rules()


def detail(pane: SearchedPane) -> str:
    shown = pane.query_one(".detail Static").content  # type: ignore[attr-defined]
    assert isinstance(shown, Text)
    return shown.plain


async def turned(person: Person, key: str, kind: type[SearchedPane]) -> SearchedPane:
    """The side under a key, listed, with the keys in its list."""
    await person.pilot.press("f12", key)
    pane = person.app.screen.query_one(kind)
    await person.until(lambda: len(pane.listing))
    await person.until(lambda: pane.searching.has_focus)
    await person.pilot.pause()
    await person.pilot.press("tab")
    return pane


@pytest.mark.usefixtures("named")
async def test_two_of_one_name_are_shown_side_by_side_and_are_one_when_somebody_says_so(open_interface: Opener) -> None:
    async with open_interface() as person:
        pane = await turned(person, "f4", PeoplePane)
        await person.until(lambda: "¿Son la misma persona (U)" in detail(pane))
        assert "Forjas Navarra" in detail(pane)
        assert "Teruel" in detail(pane)
        await person.pilot.press("u")
        await person.until(lambda: "desde ahora es uno" in person.screen_text())
        assert [node.name for node in person.app.session.memory.papers.graph.find("Adela Forcano")] == ["Adela Forcano"]
        # It was a mistake.
        await person.until(lambda: "¿una o dos?" not in person.screen_text())
        await person.pilot.press("down")
        await person.until(lambda: "unido con Adela Forcano: lo dijo Ana · D: vuelven a ser dos" in detail(pane))
        await person.pilot.press("d")
        await person.until(lambda: "vuelven a ser dos" in person.screen_text())
        await person.until(lambda: person.screen_text().count("◦ Adela Forcano") == 2)
        # Members and those of whom there are facts alone are named too.
        await person.until(lambda: "Rosa · 1 recuerdo" in person.screen_text())
        assert "Ana · de casa" in person.screen_text()


@pytest.mark.usefixtures("named")
async def test_enter_on_somebody_walks_the_graph_and_left_goes_back(open_interface: Opener) -> None:
    async with open_interface(size=(80, 24)) as person:
        pane = await turned(person, "f4", PeoplePane)
        await person.pilot.press("shift+tab", *"forjas")
        await person.until(lambda: len(pane.listing) == 1)
        await person.pilot.press("tab", "enter")
        graph = person.app.screen.query_one(GraphPane)
        await person.until(lambda: "Adela Forcano" in detail(graph))
        await person.until(lambda: "donde trabaja Adela Forcano" in person.screen_text())
        await person.pilot.press("right")
        await person.until(lambda: "Forjas Navarra › Adela Forcano" in person.screen_text())
        await person.until(lambda: "vive en Pamplona" in person.screen_text())
        await person.pilot.press("left")
        await person.until(lambda: "› Adela Forcano" not in person.screen_text())


@pytest.mark.usefixtures("named")
async def test_a_document_tells_what_it_says_where_and_why_it_could_not_be_read(open_interface: Opener) -> None:
    async with open_interface() as person:
        pane = await turned(person, "f5", DocumentsPane)
        await person.until(lambda: len(pane.listing) == 3)
        await person.pilot.press("shift+tab", *"rota")
        await person.until(lambda: "«clave: valor»" in detail(pane))
        await person.pilot.press("backspace", "backspace", "backspace", "backspace", *"nota")
        await person.until(lambda: "Adela Forcano vive en Pamplona  (nota.md, línea 1)" in detail(pane))
        await person.pilot.press("tab", "delete")
        await person.until(lambda: "Supr otra vez" in person.screen_text())
        await person.pilot.press("delete")
        await person.until(lambda: "nota.md está olvidado" in person.screen_text())
        await person.until(lambda: not len(pane.listing))
        assert "Forjas Navarra" not in {node.name for node in person.app.session.memory.papers.graph.nodes()}


@pytest.mark.usefixtures("named")
async def test_the_facts_are_read_once_for_all_that_is_typed(
    open_interface: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[bool] = []
    of = FactList.of

    def counted(rows: Mapping[Visibility, FactRows], *, forgotten: bool = False) -> FactList:
        read.append(forgotten)
        return of(rows, forgotten=forgotten)

    monkeypatch.setattr(FactList, "of", counted)
    async with open_interface() as person:
        pane = await turned(person, "f4", PeoplePane)
        before = len(read)
        await person.pilot.press("shift+tab")
        for typed in ("r", "o", "s"):
            await person.pilot.press(typed)
            await person.until(lambda: "Mi prima Rosa vive lejos" in detail(pane))
        assert len(pane.listing) == 1
        assert len(read) == before + 1


@pytest.mark.usefixtures("named")
async def test_what_a_document_says_is_not_cut_without_saying_so(
    open_interface: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "_SHOWN", 1)
    async with open_interface() as person:
        pane = await turned(person, "f5", DocumentsPane)
        await person.pilot.press("shift+tab", *"nota")
        await person.until(lambda: "Dice 2 cosas" in detail(pane))
        assert "… y una más, con: enlace graph query" in detail(pane)


def test_facts_that_change_while_they_are_read_are_read_again(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    of = FactList.of
    with Session({"ENLACE_HOME": str(home.root)}) as session:
        kept = KeptFacts()

        def changed(rows: Mapping[Visibility, FactRows], *, forgotten: bool = False) -> FactList:
            found = of(rows, forgotten=forgotten)
            session.memory.facts.add("Mi prima Rosa vive lejos")
            kept.forget()
            return found

        with monkeypatch.context() as patched:
            patched.setattr(FactList, "of", changed)
            assert len(kept.of(session)) == 0
        assert len(kept.of(session)) == 1
