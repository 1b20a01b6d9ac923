from __future__ import annotations

import hashlib
import re
import subprocess
from pathlib import Path

import pytest

from benchmarks.errors import PeerMissing
from benchmarks.peers import environments
from benchmarks.peers.environments import NAMES, peer, peers_folder


def test_every_peer_is_pinned_to_exact_versions_and_names_no_registry() -> None:
    for name in NAMES:
        lines = (environments.HERE / f"{name}.txt").read_text(encoding="utf-8").splitlines()
        pins = [line for line in lines if line and not line.startswith("#")]
        assert pins
        assert all(re.fullmatch(r"[\w.-]+==[\w.]+", pin) for pin in pins), name


def test_the_folder_of_the_peers_can_be_chosen() -> None:
    assert peers_folder({"ENLACE_PEERS": "/somewhere"}) == Path("/somewhere")
    assert peers_folder({}).name == "peers"


def test_a_peer_is_installed_once_and_again_when_its_pins_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    pins = tmp_path / "pins"
    pins.mkdir()
    (pins / "none.txt").write_text("# Nothing to install.\n")
    monkeypatch.setattr(environments, "HERE", pins)
    environ = {"ENLACE_PEERS": str(tmp_path / "peers"), "PATH": "/usr/bin:/bin"}
    made = peer("none", environ)
    assert subprocess.run([made.python, "-c", "print(1)"], check=True, capture_output=True).stdout == b"1\n"
    stays = made.folder / "stays"
    stays.touch()
    assert peer("none", environ) == made
    assert stays.exists()
    (pins / "none.txt").write_text("# Nothing to install, said otherwise.\n")
    peer("none", environ)
    assert not stays.exists()
    assert (made.folder / "complete").read_text() == hashlib.sha256((pins / "none.txt").read_bytes()).hexdigest()


def test_a_peer_that_cannot_be_installed_is_told_and_made_anew_the_next_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pins = tmp_path / "pins"
    pins.mkdir()
    (pins / "broken.txt").write_text("no such requirement at all\n")
    monkeypatch.setattr(environments, "HERE", pins)
    environ = {"ENLACE_PEERS": str(tmp_path / "peers"), "PATH": "/usr/bin:/bin"}
    with pytest.raises(PeerMissing, match="The peer broken could not be installed"):
        peer("broken", environ)
    assert not (tmp_path / "peers" / "broken" / "complete").exists()
    (pins / "broken.txt").write_text("# Repaired.\n")
    assert peer("broken", environ).folder.is_dir()
