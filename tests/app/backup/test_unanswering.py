"""A home whose current snapshot lost what it is made of: its backup says so, and the home it makes answers again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.session import Session
from configs.home import Home
from tests.app.backup.conftest import Family, flip, restore, verify
from tests.app.conftest import Run

QUESTION = "What is the capital of France?"


def manifest_of_current(session: Session) -> Path:
    """The file of the snapshot that answers in a new home; nothing of it is open."""
    path = session.home.artifact(session.snapshot().digest)
    session.close()
    return path


@pytest.mark.parametrize("lost", ["gone", "flipped"])
def test_a_backup_without_what_the_current_snapshot_is_made_of_says_so(
    family: Family, tmp_path: Path, lost: str
) -> None:
    path = family.home.artifact(family.adapter)
    if lost == "gone":
        path.unlink()
    else:
        flip(path)
    made = family.create(tmp_path / "casa.tar", skip_damaged=True)
    name = path.relative_to(family.home.root).as_posix()
    assert made.unanswering == verify(made.file).unanswering == (name,)
    assert restore(Home(tmp_path / "new" / "home"), made.file).verified.unanswering == (name,)


def test_a_backup_without_another_snapshots_files_or_without_models_answers(family: Family, tmp_path: Path) -> None:
    flip(family.home.artifact(family.merged))
    assert family.create(tmp_path / "casa.tar", skip_damaged=True).unanswering == ()
    bare = family.create(tmp_path / "bare.tar", models=False, skip_damaged=True)
    assert bare.unanswering == verify(bare.file).unanswering == ()


def test_such_a_backup_does_not_pass_and_its_home_answers_by_the_way_that_is_told(
    enlace: Run, here: Run, session: Session, tmp_path: Path
) -> None:
    manifest_of_current(session).unlink()
    backup = str(tmp_path / "a.tar")
    made = here("backup", "create", backup, "--skip-damaged")
    assert (made.code, "`enlace models use NAME`" in made.err) == (0, True)
    checked = here("backup", "verify", backup)
    assert (checked.code, "`enlace models use NAME`" in checked.err) == (1, True)
    told = here("backup", "verify", backup, "--json")
    assert (told.code, json.loads(told.out)["whole"], len(json.loads(told.out)["unanswering"])) == (1, False, 1)
    elsewhere = {"ENLACE_HOME": str(tmp_path / "another")}
    restored = here("backup", "restore", backup, **elsewhere)
    assert (restored.code, "`enlace models use NAME`" in restored.err) == (0, True)
    refused = enlace("ask", QUESTION, **elsewhere)
    assert (refused.code, "`enlace models use NAME`" in refused.err) == (1, True)
    try:
        used = enlace("models", "use", "smollm2-135m", **elsewhere)
        assert used.code == 0, used.err
        assert "Paris" in enlace("ask", QUESTION, **elsewhere).out
    finally:
        enlace("engine", "stop", **elsewhere)
