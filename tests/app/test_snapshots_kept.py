"""``enlace snapshots show`` and ``prune``: what there is of a snapshot, and what of the store goes."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from app.session import Session
from configs.home import Home
from engine.forms.machine import fingerprint
from engine.forms.records import AS_PULLED, AdaptedRecord, adapted_path, adapters_key, write_adapted
from memory.artifacts import ArtifactStore, undisturbed
from memory.lessons import Lesson
from memory.manifests import Adapter
from memory.snapshots import Snapshot
from tests.app.conftest import TIMEOUT_S, Run
from tests.engine.snapshots import write_adapter
from tests.project import ROOT

CHECK = {"name": "lessons_right", "value": 0.9, "bound": 0.8, "at_least": True, "ok": True}
GATE = {"decision": "SHIP", "checks": [CHECK], "reasons": []}


def night(session: Session, weights: bytes, *lessons: Lesson) -> Snapshot:
    """A snapshot of these weights, made by a run on ``lessons``; it answers from now on."""
    household, base = session.household, session.snapshot()
    run = household.runs.create("lessons")
    household.runs.give(run.id, [lesson.id for lesson in lessons])
    adapter = Adapter(household.artifacts.put_bytes(weights))
    made = household.snapshots.create(
        base.base_name, base.base_sha256, adapters=[adapter], parent=base.id, run=run.id, reason="training", gate=GATE
    )
    household.runs.finish(run.id, "shipped", snapshot=made.id)
    return household.snapshots.promote(made.id, "Ana", "passed")


def taught(session: Session, question: str, chosen: str) -> Lesson:
    return session.memory.lessons.add([{"role": "user", "content": question}], chosen, visibility="shared")


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.chmod(0o600)
    path.write_bytes(content)


def test_show_says_who_when_why_from_what_and_of_which_lessons(here: Run, session: Session) -> None:
    kept, secret = taught(session, "What is our dog called?", "Luna."), taught(session, "Secret?", "Kaspar.")
    night(session, b"first")
    made = night(session, b"weights", kept, secret)
    session.memory.lessons.withdraw(secret.id)
    shown = here("snapshots", "show", "v2").out
    assert "by Ana: answers in the place of v1 (passed)" in shown
    assert "It learned from 2 lessons:\n  What is our dog called? → Luna.\n  and from 1 that was withdrawn" in shown
    assert "Kaspar" not in shown
    assert "Lessons answered right  0.9" in shown
    told = json.loads(here("snapshots", "show", "current", "--json").out)
    assert (told["id"], told["parent"], told["state"], told["taken_back"]) == ("v2", "v1", "whole", [secret.id])
    assert told["bytes"] == sum(session.household.artifacts.path(each).stat().st_size for each in made.objects)
    assert [lesson["chosen"] for lesson in told["lessons"]] == ["Luna."]
    flip(session.household.artifacts.path(made.adapters[0].sha256))
    assert json.loads(here("snapshots", "show", "--json").out)["state"] == "damaged"
    assert json.loads(here("snapshots", "show", "previous", "--json").out)["id"] == "v1"


def test_show_speaks_spanish(here: Run, session: Session) -> None:
    night(session, b"weights", taught(session, "¿Cómo se llama la perra?", "Luna."))
    shown = here("snapshots", "show", lang="es_ES.UTF-8", ENLACE_ASSISTANT__LANGUAGE="es").out
    assert "Aprendió de 1 lección:\n  ¿Cómo se llama la perra? → Luna." in shown
    assert "Ana: responde en lugar de v0 (passed)" in shown


def test_a_dry_run_says_how_many_bytes_would_go_and_prune_frees_them(here: Run, session: Session, home: Home) -> None:
    made = [night(session, name.encode() * 1000) for name in ("one", "two", "three")]
    dry = here("snapshots", "prune", "--keep", "1", "--dry-run")
    assert dry.code == 0, dry.err
    assert "v1 " in dry.out
    assert "1 file of the store that nothing needs would go: 3 kB (3000 bytes)." in dry.out
    assert session.household.artifacts.path(made[0].adapters[0].sha256).is_file()
    refused = here("snapshots", "prune", "--keep", "1")
    assert (refused.code, session.household.snapshots.get("v1").pruned_at) == (2, None)
    done = here("snapshots", "prune", "--keep", "1", "--yes")
    assert "1 file is gone from the store: 3 kB (3000 bytes)." in done.out
    assert not home.artifact(made[0].adapters[0].sha256).exists()
    assert "it is a model as it came" in done.out
    assert "given up" in here("snapshots", "list").out
    back = here("snapshots", "rollback", "--to", "v1")
    assert (back.code, "only its record is left" in back.err) == (1, True)
    again = here("snapshots", "prune", "--keep", "1", "--yes", ENLACE_ASSISTANT__LANGUAGE="es", lang="es_ES.UTF-8")
    assert again.out.startswith("No sobra nada")


def test_it_says_that_it_waits_for_a_backup(enlace: Run, session: Session, home: Home) -> None:
    made = [night(session, name) for name in (b"one", b"two", b"three")]
    with ThreadPoolExecutor() as beside:
        with undisturbed(home):
            pruning = beside.submit(enlace, "snapshots", "prune", "--keep", "1", "--yes")
            while session.household.snapshots.get("v1").pruned_at is None and not pruning.done():
                time.sleep(0.02)
            with pytest.raises(TimeoutError):
                pruning.result(timeout=0.5)
        done = pruning.result(TIMEOUT_S)
    said = "Waiting until the backup that is being made is done, or what is being stored.\n"
    assert (done.code, done.err) == (0, said)
    assert not home.artifact(made[0].adapters[0].sha256).exists()


def test_as_json_nobody_is_asked_about_what_they_were_not_shown(session: Session) -> None:
    for name in (b"one", b"two", b"three"):
        night(session, name)
    ours, theirs = pty.openpty()
    os.write(ours, b"y\n")
    refused = subprocess.run(
        [sys.executable, "-m", "app", "snapshots", "prune", "--keep", "1", "--json"],
        cwd=ROOT,
        stdin=theirs,
        capture_output=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert refused.returncode == 2
    assert b"undone" not in refused.stderr
    assert json.loads(refused.stdout)["error"]["code"] == "confirmation_missing"
    assert session.household.snapshots.get("v1").pruned_at is None
    for end in (ours, theirs):
        os.close(end)


def test_a_record_that_cannot_be_removed_is_named(here: Run, session: Session, home: Home) -> None:
    for name in (b"one", b"two", b"three"):
        night(session, name)
    stuck = adapted_path(home, "0" * 64, "stuck")
    stuck.mkdir(parents=True)
    told = here("snapshots", "prune", "--keep", "1", "--yes", lang="es_ES.UTF-8", ENLACE_ASSISTANT__LANGUAGE="es")
    assert (told.code, f"No puedo escribir en {stuck} (es una carpeta)." in told.err) == (1, True)


def test_what_a_withdrawn_lesson_taught_goes_and_is_named(here: Run, session: Session) -> None:
    secret = taught(session, "Secret?", "Kaspar.")
    night(session, b"knows it", secret)
    night(session, b"knows it too", secret)
    session.memory.lessons.withdraw(secret.id)
    told = json.loads(here("snapshots", "prune", "--yes", "--json").out)
    assert [(each["snapshot"], each["taken_back"]) for each in told["going"]] == [("v1", [secret.id])]
    assert told["bytes"] == len(b"knows it")
    said = here("snapshots", "prune").out
    assert "v2 stays, and learned 1 lesson that was withdrawn since." in said


def test_a_flipped_bit_is_reported_by_name_and_nothing_of_it_is_removed(here: Run, session: Session) -> None:
    made = night(session, b"weights")
    path = session.household.artifacts.path(made.adapters[0].sha256)
    flip(path)
    found = here("snapshots", "prune")
    assert found.code == 1
    assert f"DAMAGED: {path} (SHA-256 {made.adapters[0].sha256})" in found.out
    assert path.is_file()
    spanish = here("snapshots", "prune", ENLACE_ASSISTANT__LANGUAGE="es", lang="es_ES.UTF-8").out
    assert f"DAÑADO: {path}" in spanish
    (wrong,) = json.loads(here("snapshots", "prune", "--json").out)["unsound"]
    assert (wrong["digest"], wrong["problem"], wrong["snapshots"]) == (path.parent.name + path.name, "damaged", ["v1"])


@pytest.mark.parametrize("goes", [True, False])
def test_what_stays_is_read_through_once(
    here: Run, session: Session, monkeypatch: pytest.MonkeyPatch, goes: bool
) -> None:
    kept = [night(session, b"%d" % number) for number in range(5 if goes else 2)][-2:]
    read: list[str] = []
    verify = ArtifactStore.verify

    def counting(store: ArtifactStore, digest: str) -> None:
        read.append(digest)
        verify(store, digest)

    monkeypatch.setattr(ArtifactStore, "verify", counting)
    assert here("snapshots", "prune", "--keep", "1", "--yes").code == 0
    assert len(read) == len(set(read))
    assert {each for snapshot in kept for each in snapshot.objects} <= set(read)


def test_what_a_running_engine_still_answers_with_stays_until_it_answers_with_another(
    talking: Session, asking: Run, tmp_path: Path
) -> None:
    asyncio.run(talking.engine.start())
    weights = [write_adapter(tmp_path / f"{seed}.gguf", seed=seed).read_bytes() for seed in range(4)]
    night(talking, weights[0])
    asyncio.run(talking.engine.load(talking.snapshot().digest))
    for each in weights[1:]:
        night(talking, each)
    told = json.loads(asking("snapshots", "prune", "--keep", "1", "--yes", "--json").out)
    assert {each["snapshot"]: each["why"] for each in told["kept"]} == {
        "v4": "current", "v3": "rollback", "v1": "served", "v0": "base",
    }  # fmt: skip
    assert asking("ask", "What is the capital of France?", "--no-memory", "--max-tokens", "4").code == 0
    told = json.loads(asking("snapshots", "prune", "--keep", "1", "--yes", "--json").out)
    assert [each["snapshot"] for each in told["going"]] == ["v1"]
    assert asking("snapshots", "rollback").code == 0
    assert asking("ask", "What is the capital of France?", "--no-memory", "--max-tokens", "4").code == 0


@pytest.mark.parametrize("dry", [True, False])
def test_merged_weights_of_what_is_given_up_go_with_their_record(
    here: Run, session: Session, home: Home, dry: bool
) -> None:
    merged = {}
    for name in ("one", "two", "three"):
        made = night(session, name.encode())
        digest = session.household.artifacts.put_bytes(f"merged {name}".encode())
        key = adapters_key([(each.sha256, each.scale) for each in made.adapters])
        record = AdaptedRecord(fingerprint(), AS_PULLED, made.id, True, 0.0, digest, 0.0, {}, "", 1.0)
        write_adapted(home, made.base_sha256, key, record)
        old = session.household.artifacts.path(digest)
        os.utime(old, (1.0, 1.0))
        merged[made.id] = old, adapted_path(home, made.base_sha256, key)
    assert here("snapshots", "prune", "--keep", "1", *(["--dry-run"] if dry else ["--yes"])).code == 0
    assert [path.exists() for path in merged["v1"]] == [dry, dry]
    assert all(path.exists() for name in ("v2", "v3") for path in merged[name])
