"""On a full disk what is there can be read, a training stopped, and room made."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.project import ROOT

TIMEOUT_S = 200
# A disk of its own, in a world of its own that ends with the process: no other process sees it.
ISOLATED = ["unshare", "--mount", "--map-root-user"]
SCRIPT = """
import json, os, pathlib, subprocess, sys
os.environ["ENLACE_MEMORY__RESERVE__PLENTY_MEGABYTES"] = "6"
disk = pathlib.Path(sys.argv[1])
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(disk)], check=True)
os.environ["ENLACE_HOME"] = str(disk / "home")
def enlace(*arguments):
    done = subprocess.run([sys.executable, "-m", "app", *arguments], capture_output=True, encoding="utf-8")
    return {"code": done.returncode, "out": done.stdout, "err": done.stderr}
def fill():
    with open(disk / "filling", "ab", buffering=0) as file:
        for size in (65536, 4096):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                pass
told = {"add": enlace("memory", "add", "The bins go out on Monday", "--json")}
told["kept"] = (disk / "home" / "reserve").exists()
fill()
told["free"] = os.statvfs(disk).f_bavail
for name, arguments in json.loads(sys.argv[2]).items():
    told[name] = enlace(*arguments)
told["given up"] = not (disk / "home" / "reserve").exists()
os.unlink(disk / "filling")
told["after"] = enlace("memory", "list", "--json")
told["kept again"] = (disk / "home" / "reserve").exists()
print(json.dumps(told))
"""
ON_A_FULL_DISK = {
    "list": ["memory", "list", "--json"],
    "chats": ["chats", "list"],
    "members": ["members", "list", "--json"],
    "status": ["train", "status"],
    "stop": ["train", "stop"],
    "forget": ["memory", "forget", "1", "--for-good", "--yes"],
}


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    """A folder on which a small disk can be mounted; where that is not allowed the test is skipped."""
    place = tmp_path / "disk"
    place.mkdir()
    trial = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)]
    try:
        allowed = subprocess.run([*ISOLATED, *trial], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        allowed = False
    if not allowed:
        pytest.skip("this user may mount no disk of their own")
    return place


def test_on_a_full_disk_one_can_read_stop_and_make_room(disk: Path) -> None:
    command = [*ISOLATED, sys.executable, "-c", SCRIPT, str(disk), json.dumps(ON_A_FULL_DISK)]
    environ = {**os.environ, "LANG": "en_GB.UTF-8"}
    done = subprocess.run(
        command, cwd=ROOT, env=environ, capture_output=True, encoding="utf-8", timeout=TIMEOUT_S, check=True
    )
    told = json.loads(done.stdout)
    assert told["add"]["code"] == 0, told["add"]
    assert told["kept"]
    assert told["free"] == 0
    assert "bins go out" in told["list"]["out"], told["list"]
    assert {name: told[name]["code"] for name in ("list", "chats", "members", "status", "forget")} == dict.fromkeys(
        ("list", "chats", "members", "status", "forget"), 0
    ), told
    assert "disk" not in told["stop"]["err"].lower(), told["stop"]
    assert told["given up"]
    assert json.loads(told["after"]["out"]) == []
    assert told["kept again"]
