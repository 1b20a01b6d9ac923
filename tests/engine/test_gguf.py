"""A file that is not a sound GGUF is refused before native code sees it."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import AdapterMismatch, ModelBroken, ModelTooBig
from engine.fit import check_fits
from engine.gguf import check_adapter, check_gguf
from tests.engine.snapshots import write_adapter


def test_the_starter_is_sound_and_says_what_it_is(starter: Path) -> None:
    summary = check_gguf(starter)
    assert (summary.architecture, summary.context_length, summary.has_template) == ("llama", 8192, True)
    assert summary.cache_bytes_per_token == 30 * 3 * (64 + 64) * 2
    assert summary.file_size == starter.stat().st_size


@pytest.mark.parametrize(
    "content", [b"", b"GGUF", b"x" * 43, b"GGUF" + b"\0" * 39, b"Just a text.\n" * 99, b"GGUF\3\0\0\0" + b"\xff" * 60]
)
def test_what_is_no_model_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(content)
    with pytest.raises(ModelBroken) as caught:
        check_gguf(path)
    assert caught.value.facts["reason"]


@pytest.mark.parametrize("share", [0.0001, 0.01, 0.03, 0.5, 0.999])
def test_a_truncated_model_is_refused(tmp_path: Path, starter: Path, share: float) -> None:
    path = tmp_path / "model.gguf"
    with starter.open("rb") as file:
        path.write_bytes(file.read(int(starter.stat().st_size * share)))
    with pytest.raises(ModelBroken):
        check_gguf(path)


def test_a_folder_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none.gguf"):
        with pytest.raises(ModelBroken):
            check_gguf(path)


def test_a_model_that_memory_cannot_hold_is_refused_with_both_sizes(starter: Path) -> None:
    with pytest.raises(ModelTooBig) as caught:
        check_fits(check_gguf(starter), cached_tokens=1 << 40, reserve_mb=0)
    assert caught.value.facts["needed_mb"] > caught.value.facts["available_mb"]  # type: ignore[operator]


def test_an_adapter_must_be_one_say_its_alpha_and_be_for_this_kind_of_model(tmp_path: Path, starter: Path) -> None:
    assert check_adapter(write_adapter(tmp_path / "good.gguf"), starter).adapter_alpha == 8.0
    wrong = [
        starter,
        write_adapter(tmp_path / "alpha.gguf", alpha=None),
        write_adapter(tmp_path / "arch.gguf", arch="qwen2"),
        tmp_path / "missing.gguf",
    ]
    for path in wrong:
        with pytest.raises(AdapterMismatch):
            check_adapter(path, starter)
