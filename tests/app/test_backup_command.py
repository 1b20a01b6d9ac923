"""``enlace backup``: what a person types, while the family talks, and what they are told."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from app.session import Session
from configs.home import Home
from tests.app.conftest import TIMEOUT_S, Run
from tests.project import ROOT

QUESTION = "What is the name of our dog?"


@pytest.fixture
def lived_in(session: Session) -> None:
    """The home has a member with a lesson; nothing of it is open."""
    session.snapshot()
    session.memory.lessons.add([{"role": "user", "content": QUESTION}], "Toby is our dog.", visibility="shared")
    session.close()


def test_a_backup_made_while_the_engine_answers_is_a_home_where_it_answers_again(
    enlace: Run, home: Home, tmp_path: Path, lived_in: None
) -> None:
    assert "Toby" in enlace("ask", QUESTION).out
    command = [sys.executable, "-m", "app", "ask", "Tell me a story about a ship."]
    environ = {**os.environ, "ENLACE_ENGINE__SAMPLING__MAX_TOKENS": "100"}
    with subprocess.Popen(
        command, cwd=ROOT, env=environ, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as answering:
        assert answering.stdout is not None
        begun = answering.stdout.read(1)
        made = enlace("backup", "create", str(tmp_path), "--json")
        assert begun + answering.stdout.read()
        assert answering.wait(TIMEOUT_S) == 0
    assert made.code == 0, made.err
    file = json.loads(made.out)["file"]
    refused = enlace("backup", "restore", file, "--replace")
    assert (refused.code, refused.out) == (1, "")
    assert "`enlace engine stop`" in refused.err
    elsewhere = {"ENLACE_HOME": str(tmp_path / "another")}
    restored = enlace("backup", "restore", file, **elsewhere)
    assert restored.code == 0, restored.err
    try:
        assert "Toby" in enlace("ask", QUESTION, **elsewhere).out
        assert "ship" in enlace("chats", "list", **elsewhere).out
    finally:
        enlace("engine", "stop", **elsewhere)
    assert enlace("engine", "stop").code == 0
    replaced = enlace("backup", "restore", file, "--replace")
    assert replaced.code == 0, replaced.err
    assert "home.before-" in replaced.out


def test_a_person_is_told_whose_words_it_holds_and_how_large_the_models_are(
    here: Run, home: Home, tmp_path: Path, lived_in: None
) -> None:
    (home.models / "casa.gguf").write_bytes(b"GGUF" * 500_000)
    ran = here("backup", "create", str(tmp_path / "a.tar"))
    assert ran.code == 0
    assert "everybody's words" in ran.out
    assert "2 MB of it are models" in ran.out
    spanish = here("backup", "create", str(tmp_path / "b.tar"), "--without-models", lang="es_ES.UTF-8")
    assert "las palabras de todos" in spanish.out
    assert "enlace models import ARCHIVO --name casa" in spanish.err
    assert here("backup", "verify", str(tmp_path / "b.tar"), lang="es_ES.UTF-8").out.startswith(str(tmp_path))


def test_checking_a_backup_needs_no_home_and_makes_none(here: Run, home: Home, tmp_path: Path, lived_in: None) -> None:
    assert here("backup", "create", str(tmp_path / "a.tar")).code == 0
    elsewhere = {"ENLACE_HOME": str(tmp_path / "nowhere")}
    for place in (elsewhere["ENLACE_HOME"], f"/{'n' * 300}"):
        ran = here("backup", "verify", str(tmp_path / "a.tar"), "--json", ENLACE_HOME=place)
        assert (ran.code, json.loads(ran.out)["whole"]) == (0, True)
    assert here("backup", "create", str(tmp_path / "b.tar"), **elsewhere).code == 1
    assert not (tmp_path / "nowhere").exists()


def test_a_damaged_backup_is_told_file_by_file(here: Run, tmp_path: Path, home: Home, lived_in: None) -> None:
    home.config_file.write_text("engine:\n  slots: 2\n", encoding="utf-8")
    backup = tmp_path / "a.tar"
    assert here("backup", "create", str(backup)).code == 0
    backup.write_bytes(backup.read_bytes().replace(b"slots: 2", b"slots: 3"))
    ran = here("backup", "verify", str(backup))
    assert (ran.code, ran.out) == (1, "")
    assert "Not what was put in: config.yaml" in ran.err
    told = here("backup", "verify", str(backup), "--json")
    assert (told.code, json.loads(told.out)["problems"]) == (1, [{"problem": "changed", "path": "config.yaml"}])
    refused = here("backup", "restore", str(backup), "--json", ENLACE_HOME=str(tmp_path / "new"))
    assert (refused.code, json.loads(refused.out)) == (1, json.loads(told.out))
    assert not (tmp_path / "new").exists()


def test_what_is_no_whole_backup_is_told_to_other_programs_too(
    here: Run, tmp_path: Path, home: Home, lived_in: None
) -> None:
    backup = tmp_path / "a.tar"
    assert here("backup", "create", str(backup)).code == 0
    backup.write_bytes(backup.read_bytes()[:5000])
    told = here("backup", "verify", str(backup), "--json")
    problems = [{"problem": "backup_unreadable", "path": str(backup)}]
    assert (told.code, json.loads(told.out)) == (1, {"file": str(backup), "whole": False, "problems": problems})
    assert "is no whole backup" in told.err
    assert here("backup", "verify", str(backup)).out == ""


def test_what_keeps_a_backup_from_being_made_is_told_to_other_programs_too(
    here: Run, tmp_path: Path, home: Home, lived_in: None
) -> None:
    (damaged,) = (path for path in (home.store / "sha256").rglob("*") if path.is_file())
    damaged.chmod(0o600)
    damaged.write_bytes(damaged.read_bytes()[:-1])
    told = here("backup", "create", str(tmp_path / "a.tar"), "--json")
    problems = [{"problem": "damaged", "path": damaged.relative_to(home.root).as_posix()}]
    assert (told.code, json.loads(told.out)["problems"]) == (1, problems)
    assert "A file of the home is damaged or gone" in told.err
    assert here("backup", "create", str(tmp_path / "a.tar")).out == ""


def test_backups_of_one_second_have_names_of_their_own(
    here: Run, tmp_path: Path, lived_in: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "time", lambda: 1_700_000_000.0)
    made = [json.loads(here("backup", "create", str(tmp_path), "--json").out)["file"] for _ in range(3)]
    stem = made[0].removesuffix(".tar")
    assert made == [f"{stem}.tar", f"{stem}-2.tar", f"{stem}-3.tar"]
    assert all(here("backup", "verify", each).code == 0 for each in made)


def test_a_folder_that_is_none_does_not_become_a_file(here: Run, tmp_path: Path, lived_in: None) -> None:
    (tmp_path / "file").write_bytes(b"photographs")
    for name in ("disk/", "file/"):
        ran = here("backup", "create", f"{tmp_path}/{name}")
        assert (ran.code, ran.out) == (1, "")
        assert f"{tmp_path}/{name}" in ran.err
    assert not (tmp_path / "disk").exists()


def test_a_place_that_cannot_be_looked_at_is_named_with_the_reason(here: Run, tmp_path: Path, lived_in: None) -> None:
    for name in ("n" * 300, "n" * 250, f"{'n' * 300}/"):
        ran = here("backup", "create", f"{tmp_path}/{name}")
        assert (ran.code, ran.out) == (1, "")
        assert f"{tmp_path}/nnn" in ran.err
        assert "too long" in ran.err


def test_the_time_is_told_as_everywhere_else(here: Run, tmp_path: Path, lived_in: None) -> None:
    assert here("backup", "create", str(tmp_path / "a.tar")).code == 0
    verified = here("backup", "verify", str(tmp_path / "a.tar"))
    restored = here("backup", "restore", str(tmp_path / "a.tar"), ENLACE_HOME=str(tmp_path / "new"))
    for ran in (verified, restored):
        assert re.search(r"on \d{4}-\d\d-\d\d \d\d:\d\d[ :]", ran.out), ran.out + ran.err


def test_a_home_where_something_is_kept_is_named_with_the_way_to_replace_it(
    here: Run, tmp_path: Path, lived_in: None
) -> None:
    assert here("backup", "create", str(tmp_path / "a.tar")).code == 0
    ran = here("backup", "restore", str(tmp_path / "a.tar"))
    assert ran.code == 2
    assert "--replace" in ran.err


def test_a_backup_is_named_by_its_time_in_the_folder_where_a_person_is(
    here: Run, tmp_path: Path, lived_in: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for arguments in ((), (".",), (str(tmp_path / "below") + "/",)):
        folder = tmp_path / "below" if arguments and arguments[0].endswith("/") else tmp_path
        folder.mkdir(exist_ok=True)
        monkeypatch.chdir(folder)
        ran = here("backup", "create", *arguments)
        (made,) = folder.glob("enlace-*.tar")
        assert str(made) in ran.out
        made.unlink()
