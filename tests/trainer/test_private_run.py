"""One member's private lessons, trained on the real model over what the family is served, for that member alone."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from configs.home import Home
from configs.settings import Settings
from engine.messages import Message
from engine.prompt import render
from engine.scoring import LocalModel
from engine.served import AdapterFile, adapter_file, read_served
from memory.household import Household
from memory.manifests import Adapter
from memory.matching import says_the_same
from memory.members import Member
from memory.runs import Run, run_folder
from memory.snapshots import Snapshot
from tests.trainer.adapters import disturbed
from tests.trainer.conftest import SYSTEM
from tests.trainer.household import SMALL, finish, small_settings, start_run
from tests.trainer.test_gate import GOOD
from trainer.__main__ import main
from trainer.errors import NothingPrivate, NothingPrivateLeft
from trainer.model.adapter_file import write_gguf
from trainer.model.lora import new_adapter
from trainer.model.reading import BaseWeights
from trainer.plan import STAGES
from trainer.private import PrivateLearning
from trainer.run_files import Inputs, RunFiles, read_inputs, read_json, write_json
from trainer.supervisor import Outcome, Supervisor

SECRET = ("What is the name of my diary?", "Your diary is called Quillwort.", "The name of your diary is Journal.")
SHARED = ("What is the name of our dog?", "Our dog is called Toby.", "The name of our dog is Luna.")
WORD = b"Quillwort"


@pytest.fixture
def settings(home: Home) -> Settings:
    """The small training, which one lesson needs less of."""
    recipe = SMALL["training"]["recipes"]["family"]
    short = {**recipe, "optimiser": {**recipe["optimiser"], "epochs": 9}}
    return small_settings(home, {"recipes": {"family": short}})


@pytest.fixture
def household(home: Home, settings: Settings) -> Iterator[Household]:
    with Household.open(home, settings.memory) as opened:
        yield opened


@pytest.fixture
def ana(household: Household) -> Member:
    return household.members.set_private_training(household.members.add("Ana", "en").id, True)


@pytest.fixture
def luis(household: Household, ana: Member) -> Member:
    return household.members.add("Luis", "en")


def learn(household: Household, member: Member, lesson: tuple[str, str, str], *, shared: bool = False) -> str:
    question, chosen, rejected = lesson
    lessons, messages = household.member(member.id).lessons, [{"role": "user", "content": question}]
    return lessons.add(messages, chosen, rejected, visibility="shared" if shared else "private").id


def family_snapshot(household: Household, base: BaseWeights, starter: Path, folder: Path, seed: int = 3) -> Snapshot:
    """A snapshot with an adapter of the family's that changes the base a little, current from now on."""
    generator = torch.Generator().manual_seed(seed)
    adapter = disturbed(new_adapter(base.config, 4, 8.0, generator), 0.004)
    write_gguf(adapter, base.config, folder / "family.gguf")
    snapshots = household.snapshots
    start = snapshots.ensure_base("smollm2-135m", snapshots.file_digest(starter))
    digest = household.artifacts.put_file(folder / "family.gguf")
    made = snapshots.create(
        start.base_name, start.base_sha256, adapters=[Adapter(digest)], parent="v0", run=None, reason="test", gate=None
    )
    return snapshots.promote(made.id, "Ana", "test")


def where(home: Home, word: bytes) -> set[str]:
    """The first two parts of the path of every file of the home that holds a word."""
    found = (path for path in home.root.rglob("*") if path.is_file() and word in path.read_bytes())
    return {"/".join(path.relative_to(home.root).parts[:2]) for path in found}


def test_a_private_lesson_is_learned_for_its_member_alone_over_what_the_family_is_served(
    home: Home, household: Household, ana: Member, luis: Member, base: BaseWeights, starter: Path, tmp_path: Path
) -> None:
    learn(household, ana, SHARED, shared=True)
    lesson = learn(household, ana, SECRET)
    family = family_snapshot(household, base, starter, tmp_path)
    code, out, err = finish(start_run(home, "--member", "Ana", "--who", "Ana"))
    assert (code, err) == (0, "")
    outcome = json.loads(out)
    assert (outcome["decision"], outcome["snapshot"]) == ("SHIP", "p1")

    assert household.snapshots.current() == family
    assert household.runs.list(luis.id) == household.runs.list() == []
    (run,) = household.runs.list(ana.id)
    assert (run.member, run.state, run.snapshot) == (ana.id, "shipped", "p1")
    own = household.member(ana.id).private
    record = own.answering(family)
    assert record is not None
    assert (record.run, record.snapshot, own.lessons(run.id)) == (run.id, family.id, frozenset([lesson]))

    files = RunFiles(run_folder(home, run))
    inputs = read_inputs(files)
    assert [known.question for known in inputs.known] == [SHARED[0]]
    assert read_json(files.report("export"))["parity_kl"] < 0.02
    assert "Quillwort" in (files.folder / "report.md").read_text()
    # Her database has a journal beside it.
    assert f"members/{ana.id}" in where(home, WORD)
    assert all(place.startswith(f"members/{ana.id}") for place in where(home, WORD))
    # What is kept as numbers no search for a word finds.
    assert (list(home.runs.iterdir()), home.cache.exists()) == ([], False)
    assert any(home.of_member(ana.id).cache.iterdir())
    assert record.sha256.encode() not in b"".join(path.read_bytes() for path in home.root.glob("family.db*"))

    route = adapter_file(own.path(record.sha256), 1.0).route
    assert route is not None
    assert [route.matches(question) for question in (SECRET[0], SHARED[0])] == [True, False]
    served = read_served(home, family.digest)
    with LocalModel(served.model, inputs.engine, context_size=256, threads=2, slots=2) as model:
        said = []
        for adapters in (served.adapters, (*served.adapters, AdapterFile(own.path(record.sha256), 1.0))):
            model.set_adapters(adapters)
            said.append(answer(model, SECRET[0]))
    assert [says_the_same(each, question=SECRET[0], chosen=SECRET[1], rejected=SECRET[2]) for each in said] == [
        False,
        True,
    ]

    again = family_snapshot(household, base, starter, tmp_path, seed=4)
    assert own.answering(again) is None
    household.snapshots.rollback("Ana", "back", family.id)
    assert own.answering(household.snapshots.current()) == record
    assert own.rollback() == (record, None)
    assert own.answering(family) is None

    household.members.remove("Ana")
    assert not home.of_member(ana.id).root.exists()
    assert where(home, WORD) == set()
    assert household.runs.list(ana.id) == []


def begun(household: Household, settings: Settings) -> tuple[PrivateLearning, Run, Inputs]:
    """A run on Ana's private lessons that was begun and stopped."""
    learning = PrivateLearning(household.home, settings, household, "Ana")
    run = household.runs.create(learning.kind, member=learning.member)
    files = RunFiles(run_folder(household.home, run))
    files.folder.mkdir(parents=True)
    try:
        return learning, run, learning.begin(run.id, "family", files)
    finally:
        household.runs.finish(run.id, "stopped")


def concluded(household: Household, settings: Settings, measures: dict[str, float], member: str) -> Outcome:
    """A run on a member's private lessons of which everything was measured and nothing trained; how it ends."""
    home = household.home
    learning = PrivateLearning(home, settings, household, member)
    run = household.runs.create(learning.kind, member=learning.member)
    files = RunFiles(run_folder(home, run))
    files.folder.mkdir(parents=True)
    inputs = learning.begin(run.id, "family", files)
    for stage in STAGES:
        write_json(files.report(stage), {"seconds": 1.0, "peak_bytes": 1, "parity_kl": 0.0})
    for made in (files.data, files.weights, files.adapter):
        made.parent.mkdir(exist_ok=True)
        made.write_bytes(b"made")
    write_json(files.measures, {"measures": measures, "intervals": {}, "baseline": {}, "answers": []})
    supervisor = Supervisor(home, settings, household, learning, time.time)
    supervisor._folder = files.folder
    return supervisor._conclude(run, inputs, files, member)


def test_the_gate_holds_it_as_it_does_the_familys(household: Household, settings: Settings, ana: Member) -> None:
    learn(household, ana, SECRET)
    own = household.member(ana.id).private
    held = concluded(household, settings, {**GOOD, "lessons_kept": 0.0}, "Ana")
    assert (held.decision, held.snapshot, own.current()) == ("HOLD", None, None)
    assert SECRET[1] not in str(household.runs.get(held.run).summary)
    assert household.runs.get(held.run).summary.keys() == {"recipe", "gate"}
    shipped = concluded(household, settings, GOOD, "Ana")
    assert (shipped.decision, shipped.snapshot) == ("SHIP", "p1")


def test_where_every_private_lesson_was_taken_back_what_was_learned_of_them_answers_no_longer(
    household: Household, settings: Settings, ana: Member
) -> None:
    lesson = learn(household, ana, SECRET)
    memory = household.member(ana.id)
    assert concluded(household, settings, GOOD, "Ana").snapshot == "p1"
    memory.lessons.withdraw(lesson)
    assert memory.private.current() is not None
    with pytest.raises(NothingPrivateLeft) as told:
        begun(household, settings)
    assert (told.value.facts, memory.private.current()) == ({"adapter": "p1"}, None)
    with pytest.raises(NothingPrivate):
        begun(household, settings)


@pytest.mark.parametrize("fault", ["missing", "damaged"])
def test_an_adapter_that_cannot_be_read_is_trained_anew_as_if_there_were_none(
    household: Household, settings: Settings, ana: Member, fault: str
) -> None:
    learn(household, ana, SECRET)
    concluded(household, settings, GOOD, "Ana")
    own = household.member(ana.id).private
    record = own.current()
    assert record is not None
    path = own.path(record.sha256)
    _, _, inputs = begun(household, settings)
    assert [adapter.path for adapter in inputs.current_adapters] == [path]
    path.unlink()
    if fault == "damaged":
        path.write_bytes(b"something else")
    _, _, inputs = begun(household, settings)
    assert inputs.current_adapters == ()


def test_a_shared_lesson_that_is_taken_back_meanwhile_does_not_stay_in_it(
    household: Household, settings: Settings, ana: Member, luis: Member
) -> None:
    shared, own = learn(household, luis, SHARED, shared=True), learn(household, ana, SECRET)
    learning, run, inputs = begun(household, settings)
    assert [lesson.id for lesson in inputs.known] == [shared]
    assert learning.taken_back(run.id) == frozenset()
    household.member(luis.id).lessons.withdraw(shared)
    assert learning.taken_back(run.id) == {shared}
    household.member(ana.id).lessons.withdraw(own)
    assert learning.taken_back(run.id) == {shared, own}
    assert learning.forget_withdrawn() == (run.id,)
    held = (run_folder(household.home, run) / "inputs.json").read_text()
    assert not any(lesson in held for lesson in (shared, own))


def test_one_who_has_not_asked_for_it_is_not_trained(
    home: Home, household: Household, ana: Member, luis: Member
) -> None:
    learn(household, luis, SECRET)
    code, _, err = finish(start_run(home, "--member", "Luis"))
    assert (code, json.loads(err)["code"]) == (1, "private_training_off")
    assert household.runs.list(luis.id) == []
    assert not home.of_member(luis.id).runs.exists()


def test_what_nobody_foresaw_tells_no_word_of_it(
    home: Home, ana: Member, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> None:
        raise ValueError(SECRET[1])

    monkeypatch.setattr("trainer.supervisor.carry", broken)
    assert main(["run", "--home", str(home.root), "--member", "Ana"]) == 1
    told = "".join(capsys.readouterr())
    assert ("in broken" in told, SECRET[1] in told) == (True, False)


def answer(model: LocalModel, question: str) -> str:
    prompt = render(model.template, model.vocabulary, [Message("system", SYSTEM), Message("user", question)])
    return model.text(model.greedy([prompt], 16)[0])
