"""What is sealed is a safetensors file behind a digest, and comes back as it was."""

from __future__ import annotations

from pathlib import Path

import torch
from safetensors.torch import load

from trainer.sealed import DIGEST_BYTES, read_sealed, write_sealed


def test_what_was_written_comes_back_and_any_reader_of_safetensors_reads_it(tmp_path: Path) -> None:
    tensors = {
        "odd": torch.arange(5, dtype=torch.uint8),
        "turned": torch.randn(3, 4).t(),
        "scalar": torch.tensor(2.5),
        "whole": torch.arange(6, dtype=torch.int64).view(2, 3),
        "short": torch.randn(3).bfloat16(),
    }
    notes = {"step": 3, "words": ["¿qué?"]}
    write_sealed(tmp_path / "sealed", tensors, notes)
    found = read_sealed(tmp_path / "sealed")
    assert found is not None
    assert found[1] == notes
    for back in (found[0], load((tmp_path / "sealed").read_bytes()[DIGEST_BYTES:])):
        assert back.keys() == tensors.keys()
        assert all(torch.equal(back[name], tensor) for name, tensor in tensors.items())
