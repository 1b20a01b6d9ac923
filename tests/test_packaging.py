"""The wheel: what `pipx install .` and `uv tool install .` put on a machine is everything that the rooms need."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from email import message_from_string
from pathlib import Path

import pytest

from tests.project import ROOMS, ROOT, project_files


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """The wheel, built from a copy of the project's files, so that nothing built earlier slips in."""
    folder = tmp_path_factory.mktemp("wheel")
    for path in project_files():
        target = folder / "source" / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*pip, "--wheel-dir", str(folder), str(folder / "source")], check=True, stdin=subprocess.DEVNULL)
    (built,) = folder.glob("enlace-*.whl")
    return zipfile.ZipFile(built)


def test_the_wheel_holds_every_file_of_every_room(wheel: zipfile.ZipFile) -> None:
    wanted = {str(path.relative_to(ROOT)) for path in project_files() if path.relative_to(ROOT).parts[0] in ROOMS}
    assert sorted(wanted - set(wheel.namelist())) == []


def test_the_wheel_holds_nothing_but_the_rooms(wheel: zipfile.ZipFile) -> None:
    folders = {Path(name).parts[0] for name in wheel.namelist()}
    assert {folder for folder in folders if not folder.endswith(".dist-info")} == set(ROOMS)


def test_the_wheel_brings_the_command_and_its_licence(wheel: zipfile.ZipFile) -> None:
    texts = {name.partition("/")[2]: name for name in wheel.namelist() if ".dist-info/" in name}
    assert "enlace = app.__main__:main" in wheel.read(texts["entry_points.txt"]).decode()
    assert "Apache License" in wheel.read(texts["licenses/LICENSE"]).decode()
    metadata = message_from_string(wheel.read(texts["METADATA"]).decode())
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["License-Expression"] == "Apache-2.0"
