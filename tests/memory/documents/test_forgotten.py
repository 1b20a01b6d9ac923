"""What somebody wants to be forgotten stays so: in its folder, under another name, and in later versions."""

from __future__ import annotations

from tests.memory.documents.conftest import Desk

LETTER = "Ana Gil vive en Huesca.\n"


def test_what_somebody_forgot_is_not_read_again_with_its_folder_but_by_itself(desk: Desk) -> None:
    path = desk.write("carta.txt", LETTER)
    desk.read()
    (state,) = desk.shelf.states.list()
    assert desk.shelf.remove(state.id)
    for content in (LETTER, LETTER.replace("Huesca", "Jaca")):
        path.write_text(content)
        assert desk.read().counts.read == 0
        assert desk.said() == set()
    # It may be another document by now: whoever looks is told that it was passed over.
    assert desk.problem("carta.txt") == ("document_forgotten", {"path": str(path)})
    desk.shelf.sources.add(path, desk.member.id)
    assert desk.read().counts.read == 1
    assert desk.said() == {("Ana Gil", "lives_in", "Jaca")}
    desk.read()
    assert len(desk.shelf.states.list()) == 1


def test_what_somebody_forgot_is_not_read_under_another_name_either(desk: Desk) -> None:
    path = desk.write("carta.txt", LETTER)
    desk.read()
    path.write_text(LETTER.replace("Huesca", "Jaca"))
    desk.read()
    state = next(each for each in desk.shelf.states.list() if each.state == "read")
    assert desk.shelf.remove(state.id)
    desk.write("copia.txt", LETTER)
    moved = path.rename(path.with_name("otra.txt"))
    other = desk.write("carta.md", "Eva Mora vive en Teruel.\n")
    for _ in range(2):
        desk.read()
        assert desk.said() == {("Eva Mora", "lives_in", "Teruel")}
        assert [each.name for each in desk.shelf.states.list()] == [other.name]
    moved.write_text(LETTER.replace("Huesca", "Calatayud"))
    desk.read()
    assert desk.problem("otra.txt")[0] == "document_forgotten"
    # Added by itself, as it is.
    desk.shelf.sources.add(desk.folder / "copia.txt", desk.member.id)
    desk.read()
    assert ("Ana Gil", "lives_in", "Huesca") in desk.said()
