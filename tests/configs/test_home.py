"""Homes: where they are, who may read them, and what is said of one that cannot be written."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path

import pytest

from configs.home import LONGEST_SOCKET_PATH, Home, HomeNotWritable


def test_the_home_that_the_environment_names_is_used(tmp_path: Path) -> None:
    assert Home.find({"ENLACE_HOME": str(tmp_path / "casa")}).root == tmp_path / "casa"


def test_a_home_named_from_the_user_folder_is_absolute(tmp_path: Path) -> None:
    assert Home.find({"ENLACE_HOME": "~/casa"}).root == Path.home() / "casa"


def test_without_a_name_the_home_is_the_platforms_data_folder() -> None:
    root = Home.find({}).root
    assert root.is_absolute()
    assert root.name == "enlace"
    assert root.is_relative_to(Path.home())


def test_preparing_makes_folders_that_only_their_owner_reads(tmp_path: Path) -> None:
    home = Home(tmp_path / "a" / "casa")
    home.prepare()
    for folder in (home.root, home.members, home.models, home.store, home.runs, home.logs):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_preparing_twice_keeps_what_is_there(tmp_path: Path) -> None:
    home = Home(tmp_path / "casa")
    home.prepare()
    home.config_file.write_text("engine: {}\n", encoding="utf-8")
    home.prepare()
    assert home.config_file.read_text(encoding="utf-8") == "engine: {}\n"


def test_a_home_under_a_file_is_refused_with_its_path_and_the_reason(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(HomeNotWritable) as refused:
        Home(tmp_path / "file" / "casa").prepare()
    assert refused.value.facts == {"path": str(tmp_path / "file" / "casa"), "reason": "Not a directory"}


def test_a_home_on_a_read_only_file_system_is_refused() -> None:
    with pytest.raises(HomeNotWritable):
        Home(Path("/proc/enlace")).prepare()


def test_a_socket_path_too_long_for_the_system_moves_to_a_short_private_one(tmp_path: Path) -> None:
    long = Home(tmp_path / ("x" * LONGEST_SOCKET_PATH))
    other = Home(tmp_path / ("y" * LONGEST_SOCKET_PATH))
    assert len(str(long.engine_socket)) <= LONGEST_SOCKET_PATH
    assert long.engine_socket != other.engine_socket


def test_a_short_home_keeps_its_socket_inside() -> None:
    assert Home(Path("/tmp/casa")).engine_socket == Path("/tmp/casa/engine.sock")  # noqa: S108 - only a name


def test_finding_a_home_named_by_the_environment_imports_no_platformdirs() -> None:
    code = (
        "import sys; from configs.home import Home; Home.find({'ENLACE_HOME': '/x'}); "
        "print('platformdirs' in sys.modules)"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "False"
