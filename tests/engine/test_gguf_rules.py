"""What llama.cpp would die of is refused before it sees it, and nothing that it can serve is refused."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import gguf
import pytest

from engine.errors import ModelBroken
from engine.gguf import check_gguf
from tests.engine.tiny_model import VOCABULARY, tiny_model
from tests.project import ROOT

UNCHECKED = """
import sys
from pathlib import Path
from tests.engine.mutants import load_and_compute
print(load_and_compute(Path(sys.argv[1]))[0])
"""
INTEGERS = gguf.GGMLQuantizationType.I32
DEADLY: dict[str, dict[str, Any]] = {
    "a token twice": {"tokens": ["a", "a", *(f"<{number}>" for number in range(VOCABULARY - 2))]},
    "a token twice, as far as a NUL": {"tokens": ["a", "a\0b", *(f"<{number}>" for number in range(VOCABULARY - 2))]},
    "no layers behind a NUL": {"meta": {"llama.block_count": 0, "general.architecture": "llama\0x"}},
    "no layers": {"meta": {"llama.block_count": 0}},
    "more layers than there may be": {"meta": {"llama.block_count": 513}},
    "more looking ahead than layers": {"meta": {"llama.nextn_predict_layers": 3}},
    "experts that are never used": {"meta": {"llama.expert_count": 2}},
    "more used experts than experts": {"meta": {"llama.expert_used_count": 2}},
    "groups without experts": {"meta": {"llama.expert_group_count": 2}},
    "an unknown scaling of positions": {"meta": {"llama.rope.scaling.type": "sideways"}},
    "a negative epsilon": {"meta": {"llama.attention.layer_norm_rms_epsilon": -1.0}},
    "an epsilon that is no number": {"meta": {"llama.attention.layer_norm_rms_epsilon": float("nan")}},
    "layers without the weights of their heads": {"meta": {"llama.attention.head_count_kv": [2, 1]}},
    "heads of one number": {"meta": {"llama.attention.head_count": 64, "llama.attention.head_count_kv": 32}},
    "a vocabulary that cannot spell": {"meta": {"tokenizer.ggml.model": "llama"}},
    "embeddings of integers": {"kinds": {"token_embd.weight": INTEGERS}},
    "norms of integers": {"kinds": {"blk.1.attn_norm.weight": INTEGERS}},
    "norms of half the size": {"kinds": {"blk.1.attn_norm.weight": gguf.GGMLQuantizationType.F16}},
    "a projection of integers": {"kinds": {"blk.0.ffn_down.weight": INTEGERS}},
}
SOUND: dict[str, dict[str, Any]] = {
    "as it is": {},
    "of another family": {"architecture": "qwen3"},
    "with one number of heads for each layer": {"meta": {"llama.attention.head_count_kv": [2, 2]}},
    "that stretches positions": {"meta": {"llama.rope.scaling.type": "yarn", "llama.rope.scaling.factor": 2.0}},
    "without types of tokens": {"meta": {"tokenizer.ggml.token_type": None}},
    "that spells": {
        "tokens": [*(f"<0x{byte:02X}>" for byte in range(256)), *(f"<{number}>" for number in range(VOCABULARY - 256))],
        "meta": {"tokenizer.ggml.model": "llama"},
    },
}  # fmt: skip


def unchecked(path: Path) -> str:
    """What llama.cpp makes of it in a process of its own: how it ended, or ``died``."""
    environment = os.environ | {"GGML_NO_BACKTRACE": "1"}
    command = [sys.executable, "-c", UNCHECKED, str(path)]
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    return ran.stdout.strip().splitlines()[-1] if ran.returncode == 0 else "died"


@pytest.mark.parametrize("what", DEADLY)
def test_what_llama_cpp_dies_of_is_refused(tmp_path: Path, what: str) -> None:
    path = tiny_model(tmp_path / "model.gguf", **DEADLY[what])
    with pytest.raises(ModelBroken) as caught:
        check_gguf(path)
    assert caught.value.facts["reason"]
    # Should a later llama.cpp refuse it by itself, the rule has had its day.
    assert unchecked(path) == "died"


@pytest.mark.parametrize("what", SOUND)
def test_what_llama_cpp_serves_is_accepted(tmp_path: Path, what: str) -> None:
    path = tiny_model(tmp_path / "model.gguf", **SOUND[what])
    check_gguf(path)
    assert unchecked(path) == "loaded"


@pytest.mark.parametrize(
    "meta",
    [
        {"llama.attention.head_count": "four"},
        {"llama.attention.head_count": [1.5, 2.5]},
        {"llama.attention.head_count": [float("inf")] * 2},
        {"llama.embedding_length": "wide"},
        {"llama.rope.dimension_count": "x"},
        {"split.count": "x"},
        {"adapter.lora.alpha": "x"},
    ],
)
def test_values_of_the_wrong_type_raise_nothing_but_refusal(tmp_path: Path, meta: dict[str, Any]) -> None:
    path = tiny_model(tmp_path / "model.gguf", meta=meta)
    with contextlib.suppress(ModelBroken):
        assert check_gguf(path).cache_bytes_per_token >= 0
