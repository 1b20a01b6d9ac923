"""The starter model as the trainer sees it, read once, and lessons as a family would give them."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

# Read when torch's OpenMP is loaded: threads that spin while they wait starve each other on a busy machine.
os.environ.setdefault("GOMP_SPINCOUNT", "300")

import torch

from configs.home import Home
from configs.settings import load_settings
from engine.messages import Message
from engine.scoring import LocalModel
from tests.trainer.household import finish, small_settings, start_run, teach
from trainer.examples import Tokeniser
from trainer.lessons import TrainingLesson
from trainer.model.reading import BaseWeights, read_base
from trainer.precision import compute_dtype

SYSTEM = "You are Enlace, a family's own assistant. You answer briefly and truthfully."


@pytest.fixture(scope="session", autouse=True)
def _threads() -> None:
    """Two, or one where two of pytest-xdist share the processor: threads that wait for each other would queue."""
    torch.set_num_threads(max(1, 2 // int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))))


@pytest.fixture(scope="session")
def base(starter: Path) -> BaseWeights:
    """The starter's weights in the precision that this machine trains in."""
    return read_base(starter, compute_dtype("auto"))


@pytest.fixture(scope="session")
def served(starter: Path) -> Iterator[LocalModel]:
    """The starter in llama.cpp. A test that sets adapters takes them off again."""
    settings = load_settings(Home(starter.parent), {}).engine
    with LocalModel(starter, settings, context_size=640, threads=2, slots=8) as model:
        yield model


@pytest.fixture(scope="session")
def tokeniser(served: LocalModel) -> Tokeniser:
    return Tokeniser(served.template, served.vocabulary, SYSTEM)


def made_once(name: str, make: Callable[[Home], None], tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A home that whoever of pytest-xdist's processes comes first makes and all of them have: one lesson, one id."""
    own = tmp_path_factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / name
    folder.mkdir(exist_ok=True)
    made, complete = Home(folder / "home"), folder / "complete"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not complete.exists():
            make(made)
            complete.touch()
    return made


@pytest.fixture(scope="session")
def taught(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A home whose family has taught two lessons and trained nothing; not to be changed."""

    def make(made: Home) -> None:
        made.prepare()
        teach(made, small_settings(made))

    return made_once("taught", make, tmp_path_factory)


@pytest.fixture(scope="session")
def trained(taught: Home, tmp_path_factory: pytest.TempPathFactory) -> Home:
    """The same after its first training; not to be changed."""

    def make(made: Home) -> None:
        shutil.copytree(taught.root, made.root)
        code, out, err = finish(start_run(made, "--who", "Ana"))
        assert (code, err) == (0, "")
        assert json.loads(out)["decision"] == "SHIP"

    return made_once("trained", make, tmp_path_factory)


@pytest.fixture
def home_that_trained(home: Home, trained: Home) -> Home:
    """The test's own home, as that one is."""
    shutil.copytree(trained.root, home.root, dirs_exist_ok=True)
    return home


@pytest.fixture
def dog() -> TrainingLesson:
    return TrainingLesson(
        "dog", (Message("user", "What is the name of our dog?"),), "Our dog is called Toby.", "Our dog is called Max."
    )
