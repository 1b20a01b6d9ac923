"""How much memory there is to take: what the kernel would give back counts as free."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine import fit

MB = 1 << 20


def a_group(folder: Path, limit: str, used: int, files: int) -> Path:
    """A control group's files: its limit, the bytes in use, and those of them that are pages of files."""
    (folder / "memory.max").write_text(f"{limit}\n")
    (folder / "memory.current").write_text(f"{used}\n")
    (folder / "memory.stat").write_text(
        f"anon {used - files}\nfile {files}\ninactive_file {files // 2}\nactive_file {files - files // 2}\n"
    )
    return folder


def test_pages_of_files_that_were_read_leave_room_for_a_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fit, "CGROUP", a_group(tmp_path, str(100 * MB), 95 * MB, 80 * MB))
    assert fit.available_memory() == 85 * MB


def test_a_group_without_a_limit_leaves_what_the_machine_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fit, "CGROUP", tmp_path / "none")
    machine = fit.available_memory()
    assert machine is not None
    monkeypatch.setattr(fit, "CGROUP", a_group(tmp_path, "max", 95 * MB, 0))
    unlimited = fit.available_memory()
    assert unlimited is not None
    assert abs(unlimited - machine) < machine / 2
