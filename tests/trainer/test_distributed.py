"""A training in several processes ends with the weights of one, also where one of them is killed on the way."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from itertools import chain, pairwise

import psutil
import pytest
import torch
from safetensors.torch import load_file

from configs.errors import EnlaceError
from configs.home import Home
from configs.settings import load_settings
from tests.project import ROOT
from tests.trainer.adapters import disturbed
from tests.trainer.household import events, finish, small_settings, start_run, teach, wait_for, workers
from tests.trainer.household import steps as told_steps
from tests.trainer.killed_training import LOST, STEPS, prepared_run
from tests.trainer.random_model import write_random_model
from tests.trainer.shared_base import ITEM
from tests.trainer.test_checkpoints import assert_same_weights, endings, resumed_at, steps
from tests.trainer.test_early_stop import run_of_two_wordings
from tests.trainer.test_run import KEPT_OFTEN
from trainer.distributed import Together, joined
from trainer.errors import SharesDoNotFit
from trainer.model.adapter_file import write_gguf
from trainer.model.decoder import Decoder
from trainer.model.frozen import Dense
from trainer.model.lora import new_adapter
from trainer.model.reading import read_base
from trainer.packing import build_pack
from trainer.place import ALONE, Place, place_in
from trainer.run_files import RunFiles, read_json
from trainer.workers import Workers


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A home with these trainings, done."""
    home = Home(tmp_path_factory.mktemp("home"))
    home.prepare()
    alone, two, killed = (prepared_run(home, name) for name in ("alone", "two", "killed"))
    unlike = prepared_run(home, "unlike", training={"distribution": {"processes": 2, "shares": [1, 3]}})
    shared = {"frozen": {"keep": "shared_out"}, "recompute": "always"}
    shared_out = prepared_run(home, "shared-out", training=shared)
    early, early_two = (run_of_two_wordings(home, name) for name in ("early", "early-two"))
    ended = endings(
        *((alone, 0, 1), (two, 0, 2), (killed, 12, 2), (killed, 0, 2), (unlike, 0, 2), (shared_out, 0, 2)),
        (early, 0, 1),
        (early_two, 0, 2),
    )
    assert ended == [[0], [0, 0], [LOST, -signal.SIGKILL], [0, 0], [0, 0], [0, 0], [0], [0, 0]]
    return home


def run(home: Home, name: str) -> RunFiles:
    return RunFiles(home.runs / name)


def lesson_losses(files: RunFiles) -> dict[str, float]:
    return {each["lesson"]: each["nats"] for each in read_json(files.report("train"))["lesson_losses"]}


def furthest(one: RunFiles, other: RunFiles) -> float:
    """The largest difference between two weights."""
    mine, theirs = load_file(one.weights), load_file(other.weights)
    assert mine.keys() == theirs.keys()
    return max(float((mine[name] - theirs[name]).abs().max()) for name in mine)


@pytest.mark.parametrize("name", ["two", "unlike"])
def test_several_processes_end_with_the_weights_of_one(place: Home, name: str) -> None:
    alone, several = run(place, "alone"), run(place, name)
    assert furthest(several, alone) < 1e-5
    told, same = steps(several), steps(alone)
    assert len(told) == len(same) == STEPS
    for mine, theirs in zip(told, same, strict=True):
        assert mine == {key: pytest.approx(value, rel=1e-3, abs=1e-5) for key, value in theirs.items()}
    assert lesson_losses(several) == {
        name: pytest.approx(nats, rel=1e-3) for name, nats in lesson_losses(alone).items()
    }
    assert not several.checkpoints()


def test_a_killed_process_ends_the_others_and_all_go_on_to_the_same_weights(place: Home) -> None:
    two, killed = run(place, "two"), run(place, "killed")
    assert resumed_at(killed)
    assert_same_weights(killed, two)
    assert lesson_losses(killed) == lesson_losses(two)
    told = {step["step"]: step for step in steps(two)}
    assert all(step == told[step["step"]] for step in steps(killed))


def test_with_the_base_shared_out_the_weights_are_the_same_to_the_bit(place: Home) -> None:
    assert_same_weights(run(place, "shared-out"), run(place, "two"))


def test_each_process_holds_half_of_the_base_also_after_it_has_used_all(home: Home) -> None:
    model = home.models / "random.gguf"
    write_random_model(model, "llama", layers=2)
    base, beneath, meeting = read_base(model), home.root / "beneath.gguf", home.root / "meeting"
    adapter = disturbed(new_adapter(base.config, 4, 8.0, torch.Generator().manual_seed(1)), 0.5)
    write_gguf(adapter, base.config, beneath)
    command = [sys.executable, "-m", "tests.trainer.shared_base", str(model), str(beneath), str(meeting)]
    told = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout)
    layers = chain.from_iterable((each.qkv, each.output, each.gate_up, each.down) for each in base.layers)
    whole = sum(each.weight.numel() for each in layers if isinstance(each, Dense))
    with torch.no_grad():
        ground = read_base(model, adapters=[(beneath, 1.0)])
        log_probs = Decoder(ground).log_probs(build_pack([ITEM])).tolist()
    assert told == [[whole // 2, whole // 2, pytest.approx(log_probs, abs=1e-4)]] * 2


def test_all_end_early_after_the_same_epoch(place: Home) -> None:
    mine, theirs = (read_json(run(place, name).report("train")) for name in ("early-two", "early"))
    assert (mine["steps"], mine["processes"]) == (theirs["steps"], 2)
    assert mine["steps"] < STEPS
    assert mine["held_out_losses"] == pytest.approx(theirs["held_out_losses"])


def test_started_by_torchrun_it_is_the_same_training(home: Home, place: Home) -> None:
    files = prepared_run(home, "torchrun")
    command = ["torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m", "trainer.worker", "train"]
    subprocess.run([sys.executable, "-m", *command, str(files.folder)], cwd=ROOT, check=True, capture_output=True)
    assert_same_weights(files, run(place, "two"))


def test_the_processes_of_a_stage_hear_nothing_but_this_machine_and_end_together(home: Home) -> None:
    files = prepared_run(home, "started")
    with (files.folder / "output.log").open("wb") as log:
        processes = Workers("train", files, 2, log, {})
        try:
            # Tests before this one may have left an engine running for those after it.
            mine = workers(os.getpid(), str(files.folder))
            wait_for(lambda: len(steps(files)) > 0)
            heard = [each.laddr.ip for process in mine for each in process.net_connections() if each.status == "LISTEN"]
            assert set(heard) == {"127.0.0.1"}
            assert processes.status() is None
            mine[1].kill()
            wait_for(lambda: mine[0].status() == psutil.STATUS_ZOMBIE)
            assert processes.status() == -signal.SIGKILL
        finally:
            processes.end(5)
    assert b"process_lost" in (files.folder / "output.log").read_bytes()
    # So it may be begun again.
    assert not files.error("train").exists()


def test_work_is_cut_by_the_shares_and_keeps_its_order() -> None:
    sizes = [5, 1, 1, 1, 8, 2, 2]
    for shares in ((1.0,), (1.0, 1.0), (3.0, 1.0), (1.0, 1.0, 1.0), (1.0,) * 9):
        cuts = Together(Place(0, len(shares)), shares).cut(sizes)
        assert len(cuts) == len(shares)
        assert [cuts[0].start, cuts[-1].stop] == [0, len(sizes)]
        assert all(before.stop == after.start for before, after in pairwise(cuts))
    assert [sum(sizes[cut]) for cut in Together(Place(0, 2), (1.0, 1.0)).cut(sizes)] == [8, 12]
    assert [sum(sizes[cut]) for cut in Together(Place(0, 2), (3.0, 1.0)).cut(sizes)] == [16, 4]
    assert Together(Place(0, 2), (1.0, 1.0)).cut([]) == [slice(0, 0)] * 2


def test_groups_go_round_and_in_lockstep_nobody_is_left_without() -> None:
    groups = ["a", "b", "c"]
    for lockstep, last in ((False, []), (True, [("c", False)])):
        first, second = (list(Together(Place(rank, 2), (1.0, 1.0), lockstep).mine(groups)) for rank in (0, 1))
        assert first == [("a", True), ("c", True)]
        assert second == [("b", True), *last]


def test_a_process_knows_its_place_from_torchruns_words() -> None:
    assert place_in({}) == ALONE
    assert place_in(Place(1, 3, 3).environment()) == Place(1, 3, 3)
    assert place_in({"RANK": "2", "WORLD_SIZE": "4", "LOCAL_WORLD_SIZE": "2"}) == Place(2, 4, 2)


def test_shares_for_another_number_of_processes_are_refused(home: Home) -> None:
    with pytest.raises(EnlaceError, match="2 numbers for 3 processes"):
        load_settings(home, {}, {"training": {"distribution": {"processes": 3, "shares": [1, 1]}}})
    settings = load_settings(home, {}, {"training": {"distribution": {"processes": 2, "shares": [1, 1]}}})
    with (
        pytest.raises(SharesDoNotFit) as refused,
        joined(Place(2, 3, 3), settings.training.distribution, home.root / "meeting", 1),
    ):
        pass
    assert refused.value.facts == {"shares": 2, "processes": 3}


def test_a_stage_that_is_not_shared_out_refuses_several_processes(home: Home) -> None:
    files = prepared_run(home, "torchrun")
    environment = {**os.environ, **Place(1, 2, 2).environment()}
    command = [sys.executable, "-m", "trainer.worker", "export", str(files.folder)]
    assert subprocess.run(command, cwd=ROOT, env=environment, stderr=subprocess.DEVNULL).returncode == 2


@pytest.mark.soak
def test_a_run_in_two_processes_goes_on_where_one_of_them_was_killed(home: Home) -> None:
    settings = small_settings(home, {"distribution": {"processes": 2, "shares": []}, **KEPT_OFTEN})
    teach(home, settings)
    begun = start_run(home)
    wait_for(lambda: len(told_steps(home)) > 1)
    pair = workers(begun.pid)
    assert len(pair) == 2
    pair[1].kill()
    wait_for(lambda: any(event.kind == "stage_restarted" for event in events(home)))
    taken = told_steps(home)
    wait_for(lambda: len(told_steps(home)) > len(taken))
    assert told_steps(home)[len(taken)] in (taken[-1], taken[-1] + 1)
    begun.terminate()
    code, _, err = finish(begun)
    assert (code, json.loads(err)["code"]) == (1, "run_stopped")
    died = [event.facts for event in events(home) if event.kind == "stage_restarted"]
    assert [(facts["stage"], facts["status"]) for facts in died if facts] == [("train", -signal.SIGKILL)]
