"""Documents of a member whose file is encrypted: nobody opens it at night, so they are read while they are in."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.document_story import sentences
from app.documents import all_states, read_documents, read_while_in
from app.session import Session
from app.training import answer_of
from configs.home import Home
from memory.sealing import encrypt

QUICK = {"memory": {"entrance": {"memory_mib": 8, "passes": 1, "lanes": 1}}}
PASSPHRASE = "siete gatos en un tejado"  # noqa: S105 - nobody's


def state(session: Session) -> tuple[str, tuple[str, ...]]:
    (found,) = all_states(session)
    return found.state, tuple(sentences(session, found))


def test_they_wait_for_their_member_and_are_read_once_while_they_are_in(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("sqlcipher3")
    monkeypatch.setenv("ENLACE_MEMORY__DOCUMENTS__MODEL", "false")
    note = tmp_path / "note.md"
    note.write_text("Ana Gil works at Gil Motors Ltd.\n")
    with Session({"ENLACE_HOME": str(home.root), "LANG": "es.UTF-8"}, options=QUICK) as session:
        ana = session.household.members.default(name="Ana")
        assert read_while_in(session) is None
        encrypt(session.household, ana.id, PASSPHRASE)
        assert read_while_in(session) is None
        shelf = session.memory.papers.shelf
        source = shelf.sources.add(note, ana.id)
        shelf.placing.look()
        night, _ = answer_of(home, "trainer.reading", "--rules")
        assert '"read": 0' in night
        assert '"skipped": 1' in night
        waits, told = state(session)
        assert waits == "waiting"
        assert "de noche nadie lo abre" in told[0]
        process = read_while_in(session)
        assert process is not None
        assert PASSPHRASE not in str(process.args)
        assert session.household.doors.key(ana) not in str(process.args)
        assert process.wait(60) == 0
        assert state(session) == ("read", ())
        assert [each.name for each in session.memory.papers.graph.find("Ana Gil")] == ["Ana Gil"]
        # The same content is never read twice, whoever is asked; and a changed one is, at once.
        assert read_documents(session)["read"] == 0
        note.write_text("Ana Gil lives in York.\n")
        assert read_documents(session)["read"] == 1
        assert source.path == str(note)
