"""Each document is read once for what it holds, whatever it is called and whoever reads it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from configs.settings import Settings
from memory.documents import files
from memory.documents.claims import ClaimLost
from memory.documents.extracting.extract import RULES_VERSION
from memory.documents.found import Extraction, Reading
from memory.household import Household
from memory.members import Member
from tests.memory.documents.conftest import Desk

LETTER = "Ana Gil vive en Huesca.\n"
NOTHING = Extraction((), ())


def test_a_document_is_read_once_however_often_one_looks(desk: Desk) -> None:
    desk.write("carta.txt", LETTER)
    assert desk.read().counts.read == 1
    assert desk.read().counts.read == 0
    assert len(desk.reads()) == 1
    assert desk.said() == {("Ana Gil", "lives_in", "Huesca")}


def test_under_another_name_it_is_the_same_document(desk: Desk) -> None:
    path = desk.write("carta.txt", LETTER)
    desk.read()
    path.rename(desk.folder / "otro nombre.txt")
    assert desk.read().counts.read == 0
    (state,) = desk.shelf.states.list()
    assert (state.name, len(state.paths), state.gone) == ("otro nombre.txt", 1, False)
    desk.write("copia.txt", LETTER)
    assert desk.read().counts.read == 0
    assert len(desk.shelf.states.list()[0].paths) == 2


def test_with_one_byte_changed_it_is_a_new_version_and_what_the_old_one_said_is_no_longer_so(desk: Desk) -> None:
    desk.write("carta.txt", LETTER)
    desk.read()
    desk.write("carta.txt", LETTER.replace("Huesca", "Huesco"))
    assert desk.read().counts.read == 1
    assert desk.said() == {("Ana Gil", "lives_in", "Huesco")}
    assert sorted(state.state for state in desk.shelf.states.list()) == ["read", "replaced"]
    # What it held before is in force again where it is held again, and is not read again.
    desk.write("carta.txt", LETTER)
    assert desk.read().counts.read == 0
    assert desk.said() == {("Ana Gil", "lives_in", "Huesca")}
    assert len(desk.reads()) == 2


def test_a_version_that_cannot_be_read_leaves_the_one_before_in_force(desk: Desk) -> None:
    desk.write("notas.yaml", "nombre: Ana Gil\ncorreo: ana@gil.example\n")
    desk.read()
    desk.write("notas.yaml", "nombre: [Ana Gil\n")
    assert desk.read().counts.problems == 1
    assert desk.said() == {("Ana Gil", "email", "ana@gil.example")}


def test_one_that_changes_while_it_is_read_is_read_again(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    path = desk.write("carta.txt", LETTER)
    whole, edits = files.facts_of, iter([LETTER.replace("Huesca", "Teruel")])

    def edited_meanwhile(of: Path) -> files.Facts | None:
        facts = whole(of)
        if (edit := next(edits, None)) is not None:
            path.write_text(edit)
            os.utime(path, ns=(1, 1))
        return facts

    monkeypatch.setattr(files, "facts_of", edited_meanwhile)
    desk.read()
    assert desk.said() == {("Ana Gil", "lives_in", "Teruel")}


def test_one_that_changed_between_looking_and_reading_is_read_as_what_it_is_then(desk: Desk) -> None:
    path = desk.write("carta.txt", LETTER)
    desk.shelf.placing.look()
    path.write_text(LETTER.replace("Huesca", "Jaca"))
    claim = desk.shelf.claims.claim(RULES_VERSION)
    assert claim is not None
    assert desk.shelf.placing.read(claim) is None
    desk.shelf.claims.release(claim)
    desk.read()
    assert desk.said() == {("Ana Gil", "lives_in", "Jaca")}


def test_a_file_that_is_gone_is_remembered_until_somebody_forgets_it(desk: Desk) -> None:
    desk.write("carta.txt", LETTER).unlink(missing_ok=False)
    path = desk.write("carta.txt", LETTER)
    desk.read()
    path.unlink()
    desk.read()
    (state,) = desk.shelf.states.list()
    assert state.gone
    assert desk.said()
    assert desk.shelf.remove(state.id)
    for table in ("documents", "document_places", "document_reads", "evidence", "mentions", "statements", "nodes"):
        assert desk.shelf.database.value(f"SELECT count(*) FROM {table}") == 0, table  # noqa: S608


def test_a_folder_that_is_read_no_more_leaves_nothing_of_any_version(desk: Desk) -> None:
    path = desk.write("carta.txt", LETTER)
    desk.read()
    for town in ("Jaca", "Huesca", "Teruel"):
        path.write_text(LETTER.replace("Huesca", town))
        desk.read()
    assert desk.shelf.unwatch(desk.folder) == 1
    for table in ("documents", "document_places", "document_reads", "evidence", "mentions", "statements", "nodes"):
        assert desk.shelf.database.value(f"SELECT count(*) FROM {table}") == 0, table  # noqa: S608


def test_what_another_document_says_too_outlives_the_first(desk: Desk) -> None:
    desk.write("una.txt", LETTER)
    desk.write("otra.txt", LETTER + "Eva Gil vive en Jaca.\n")
    desk.read()
    first = next(state for state in desk.shelf.states.list() if state.name == "una.txt")
    desk.shelf.remove(first.id)
    assert desk.said() == {("Ana Gil", "lives_in", "Huesca"), ("Eva Gil", "lives_in", "Jaca")}


def test_a_claim_is_one_process_alone_and_a_lost_one_puts_nothing_down(desk: Desk, household: Household) -> None:
    desk.write("carta.txt", LETTER)
    desk.shelf.placing.look()
    claim = desk.shelf.claims.claim(RULES_VERSION)
    assert claim is not None
    assert desk.shelf.claims.claim(RULES_VERSION) is None
    # Its process gave no sign of life for longer than a lease lasts.
    desk.shelf.database.run("UPDATE document_claims SET until = 0")
    second = desk.shelf.claims.claim(RULES_VERSION)
    assert second is not None
    with pytest.raises(ClaimLost):
        desk.shelf.finish(claim, Reading(LETTER), NOTHING)
    with pytest.raises(ClaimLost):
        desk.shelf.claims.renew(claim)
    assert desk.reads() == []
    desk.shelf.finish(second, Reading(LETTER), NOTHING)
    assert len(desk.reads()) == 1


def test_the_claim_of_a_process_that_is_gone_is_anybodys(desk: Desk) -> None:
    desk.write("carta.txt", LETTER)
    desk.shelf.placing.look()
    assert desk.shelf.claims.claim(RULES_VERSION) is not None
    desk.shelf.database.run("UPDATE document_claims SET holder = 'gone:1:1'")
    assert desk.shelf.claims.claim(RULES_VERSION) is not None


def test_what_is_wrong_with_one_keeps_no_other_from_being_read(desk: Desk, settings: Settings) -> None:
    limit = settings.memory.documents.largest_mb
    desk.write("carta.txt", LETTER)
    desk.write("roto.pdf", b"%PDF-1.4 no")
    desk.write("binario.md", bytes(range(256)) * 9)
    desk.write("frase.yaml", "solo una frase")
    with (desk.folder / "enorme.txt").open("wb") as huge:
        huge.truncate(2_000_000_000)
    secret = desk.write("secreto.txt", LETTER + "x")
    secret.chmod(0)
    desk.write(".oculto.txt", "Eva Gil vive en Jaca.")
    desk.write("foto.jpg", b"\xff\xd8")
    desk.read()
    assert desk.problem("roto.pdf")[0] == "document_damaged"
    assert desk.problem("binario.md")[0] == "document_not_text"
    assert desk.problem("frase.yaml")[0] == "document_no_mapping"
    assert desk.problem("enorme.txt") == ("document_too_large", {"size": 2000, "limit": limit})
    assert desk.states()["carta.txt"] == "read"
    assert ".oculto.txt" not in desk.states()
    assert "foto.jpg" not in desk.states()
    if os.getuid():
        assert desk.problem("secreto.txt")[0] == "document_unreadable"
    # Nothing that is on record as it is has to be read again.
    assert desk.read().counts.problems == 0


def test_another_version_of_the_rules_reads_everything_anew_in_place_of_what_was_there(desk: Desk) -> None:
    desk.write("carta.txt", LETTER)
    desk.read()
    claim = desk.shelf.claims.claim("rules-2")
    assert claim is not None
    desk.shelf.finish(claim, Reading(LETTER), NOTHING)
    assert desk.said() == set()
    assert {extractor for _, extractor in desk.reads()} == {RULES_VERSION, "rules-2"}


def test_what_a_member_keeps_private_is_in_their_file_alone(
    desk: Desk, household: Household, bruno: Member, tmp_path: Path
) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "secreto.txt").write_text("Zacarías Gil vive en Huesca.\n")
    shelf = household.member(desk.member.id).papers.shelf
    shelf.sources.add(own, desk.member.id)
    desk.read()
    assert ("Zacarías Gil", "lives_in", "Huesca") in desk.said()
    other = household.member(bruno.id)
    assert other.papers.graph.nodes() == []
    assert other.papers.recall.about("¿Dónde vive Zacarías Gil?", 5) == []
    assert b"Zacar" not in household.home.family_db.read_bytes()


def test_what_a_removed_member_had_read_for_everybody_goes_with_them(
    desk: Desk, household: Household, bruno: Member
) -> None:
    desk.write("carta.txt", LETTER)
    desk.read()
    household.members.remove(desk.member.name)
    assert household.member(bruno.id).papers.graph.nodes() == []
    assert desk.shelf.sources.list() == []
    assert desk.shelf.states.list() == []


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.json", '{"contactos": [{"nombre": "Ana \\ud83d Gil", "correo": "ana@gil.example"}]}'),
        ("a.yaml", 'contactos:\n- nombre: "Ana \\ud83d Gil"\n  correo: ana@gil.example\n'),
    ],
)
def test_half_a_character_in_a_document_keeps_none_after_it_from_being_read(
    desk: Desk, name: str, content: str
) -> None:
    desk.write(name, content)
    desk.read()
    desk.write("carta.txt", LETTER)
    desk.read()
    assert {state.state for state in desk.shelf.states.list()} == {"read"}
    assert {("Ana Gil", "lives_in", "Huesca"), ("Ana \ufffd Gil", "email", "ana@gil.example")} <= desk.said()


def test_two_who_turn_out_to_be_one_while_a_third_name_of_theirs_is_read_are_one(desk: Desk) -> None:
    desk.write("1.yaml", "- nombre: Ana Gil\n  correo: ana@gil.example\n")
    desk.read()
    desk.write("2.yaml", "- nombre: Ana Gil\n  telefono: 600 111 222\n")
    desk.read()
    desk.write(
        "3.yaml",
        "- nombre: Ana\n  telefono: 600 111 222\n"
        "- nombre: Ana Gil\n  correo: ana@gil.example\n  telefono: 600 111 222\n",
    )
    desk.read()
    assert {state.state for state in desk.shelf.states.list()} == {"read"}
    assert len(desk.shelf.database.rows("SELECT 1 FROM nodes WHERE kind = 'person'")) == 1


def test_what_a_removed_member_added_too_is_read_where_it_lies_in_anothers_folder(
    desk: Desk, household: Household, bruno: Member, tmp_path: Path
) -> None:
    folder = tmp_path / "brunos"
    folder.mkdir()
    (folder / "una.txt").write_text(LETTER)
    household.documents.sources.add(folder, bruno.id)
    desk.read()
    desk.write("carta.txt", LETTER)
    desk.read()
    household.members.remove(bruno.name)
    desk.read()
    assert [state.added_by for state in desk.shelf.states.list()] == [desk.member.id]
