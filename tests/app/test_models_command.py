"""``enlace models`` on the command line: real downloads from a server on this machine, real interruptions."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from configs.home import Home
from tests.app.conftest import TIMEOUT_S, Run
from tests.engine.pulling.hub import Hub, running, small_model
from tests.project import ROOT

pytestmark = pytest.mark.timeout(180)


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return small_model(tmp_path_factory.mktemp("model") / "small.gguf", megabytes=4)


@pytest.fixture
def hub(content: bytes) -> Iterator[Hub]:
    with running(Hub(content=content)) as made:
        yield made


def test_the_list_tells_what_is_here_what_may_be_pulled_and_what_suits_the_machine(here: Run) -> None:
    listed = json.loads(here("models", "list", "--json").out)
    by_name = {entry["name"]: entry for entry in listed}
    assert (by_name["smollm2-135m"]["installed"], by_name["smollm2-135m"]["in_use"]) == (True, True)
    assert by_name["qwen3-4b"]["path"] is None
    assert by_name["qwen3-4b"]["address"].startswith("https://huggingface.co/Qwen/")
    assert by_name["qwen3-4b"]["licence"] == "Apache-2.0"
    assert sum(entry["recommended"] for entry in listed) == 1
    spanish = here("models", "list", lang="es_ES.UTF-8").out
    assert "qwen3-0.6b" in spanish
    assert "enlace models pull" in spanish


def test_a_broken_file_in_the_folder_is_listed_as_such(here: Run, home: Home) -> None:
    (home.models / "bad.gguf").write_bytes(b"nothing")
    states = {entry["name"]: entry["state"] for entry in json.loads(here("models", "list", "--json").out)}
    assert states["bad"] == "broken"


def test_the_starter_pulled_from_a_server_answers(enlace: Run, starter: Path) -> None:
    with running(Hub(content=starter.read_bytes(), drops=3, drop_after=5_000_000)) as hub:
        pulled = enlace("models", "pull", hub.url, "--name", "pulled", "--json", ENLACE_ENGINE__PULL__BACKOFF_S="0.01")
    assert pulled.code == 0, pulled.err
    told = json.loads(pulled.out)
    assert (told["name"], told["verified"], told["bytes"]) == ("pulled", True, starter.stat().st_size)
    assert "100 %" in pulled.err
    assert enlace("models", "use", "pulled").code == 0
    assert "Paris" in enlace("ask", "What is the capital of France?", "--no-memory").out


def test_ctrl_c_ends_with_130_and_the_same_command_goes_on(hub: Hub, home: Home, here: Run) -> None:
    hub.bytes_per_s = 300_000
    process = subprocess.Popen(
        [sys.executable, "-m", "app", "models", "pull", hub.url],
        cwd=ROOT,
        env=os.environ | {"LANG": "en_GB.UTF-8"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # A shell that runs the tests in its background has them ignore Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    deadline = time.monotonic() + TIMEOUT_S
    while hub.sent < 500_000 and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=TIMEOUT_S)
    assert (process.returncode, out) == (130, b"")
    assert err.decode().splitlines()[-2:] == [
        "What has arrived is kept. The same command goes on from there.",
        "Stopped.",
    ]
    assert (home.models / "model.gguf.part").exists()
    hub.bytes_per_s = None
    again = json.loads(here("models", "pull", hub.url, "--json").out)
    assert again["resumed_bytes"] > 0
    assert (home.models / "model.gguf").read_bytes() == hub.content


def test_a_killed_pull_leaves_nothing_in_place_and_goes_on(hub: Hub, home: Home, here: Run) -> None:
    hub.bytes_per_s = 300_000
    process = subprocess.Popen(
        [sys.executable, "-m", "app", "models", "pull", hub.url],
        cwd=ROOT,
        env=os.environ | {"ENLACE_ENGINE__PULL__CHECKPOINT_S": "0.05"},
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + TIMEOUT_S
    while hub.sent < 800_000 and time.monotonic() < deadline:
        time.sleep(0.02)
    process.kill()
    process.wait()
    assert not (home.models / "model.gguf").exists()
    hub.bytes_per_s = None
    assert json.loads(here("models", "pull", hub.url, "--json").out)["resumed_bytes"] > 0
    assert (home.models / "model.gguf").read_bytes() == hub.content


def test_on_a_terminal_one_line_is_painted_again_and_again(hub: Hub, home: Home) -> None:
    hub.bytes_per_s = 1_000_000
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "app", "models", "pull", hub.url],
        cwd=ROOT,
        env=os.environ | {"LANG": "es_ES.UTF-8", "TERM": "xterm-256color"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    shown, deadline = b"", time.monotonic() + TIMEOUT_S
    while time.monotonic() < deadline:
        try:
            arrived = os.read(ours, 65536) if select.select([ours], [], [], 1)[0] else b""
        except OSError:  # the other end is closed
            break
        shown += arrived
    os.close(ours)
    assert process.wait(timeout=TIMEOUT_S) == 0
    text = shown.decode()
    painted = [line for line in text.split("\r") if "model: " in line]
    assert len(painted) > 3
    assert "▓" in text
    assert "suma de comprobación correcta" in text
    assert (home.models / "model.gguf").read_bytes() == hub.content


def test_a_file_is_imported_and_a_wrong_one_is_told(here: Run, home: Home, content: bytes, tmp_path: Path) -> None:
    own = tmp_path / "own.gguf"
    own.write_bytes(content)
    imported = here("models", "import", str(own))
    assert (imported.code, "enlace models use own" in imported.out) == (0, True)
    assert (home.models / "own.gguf").read_bytes() == content
    linked = json.loads(here("models", "import", str(own), "--name", "linked", "--link", "--json").out)
    assert Path(linked["path"]).samefile(own)
    own.write_bytes(content[:-5])
    broken = here("models", "import", str(own), "--name", "third")
    assert (broken.code, broken.out) == (1, "")
    assert "own.gguf" in broken.err


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("pull", "qwen99"), 2, "qwen3-4b"),
        (("pull", "ftp://host/x.gguf"), 2, "ftp://host/x.gguf"),
        (("pull", "https://host/x.gguf", "--name", "../x"), 2, "../x"),
        (("pull", "qwen3-4b", "--sha256", "12"), 2, "SHA-256"),
        (("pull",), 2, "--yes"),
        (("import", "/nowhere.gguf"), 1, "There is no file /nowhere.gguf"),
        (("import", "/dev/null/nowhere.gguf"), 1, "There is no file /dev/null/nowhere.gguf"),
        (("use", "nope"), 1, "enlace models list"),
        (("use", "qwen3-1.7b"), 1, "`enlace models pull qwen3-1.7b`"),
        (("bench", "nope"), 1, "enlace models list"),
    ],
)
def test_a_model_that_is_not_there_or_not_to_be_had_is_said_in_a_sentence(
    here: Run, arguments: tuple[str, ...], code: int, said: str
) -> None:
    ran = here("models", *arguments)
    assert (ran.code, ran.out) == (code, "")
    assert said in ran.err
    assert "Traceback" not in ran.err


def test_the_starter_needs_no_pull(here: Run) -> None:
    ran = here("models", "pull", "smollm2-135m")
    assert (ran.code, "already" in ran.out) == (0, True)


def test_a_model_that_answers_already_is_said_to_do_so(here: Run) -> None:
    ran = here("models", "use", "smollm2-135m")
    assert (ran.code, ran.out) == (0, "smollm2-135m answers already, as snapshot v0.\n")
