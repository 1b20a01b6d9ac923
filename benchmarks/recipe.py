"""The one training that both sides do: DPO over pairs, LoRA on the seven projections. No default of Enlace's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

DATA = Path(__file__).with_name("data")
PAIRS = DATA / "pairs64.jsonl"
RANK = 16
ALPHA = 32
PROJECTIONS = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
BATCH = 4
LEARNING_RATE = 2e-4
BETA = 0.1
SEED = 7


def pairs(count: int) -> list[dict[str, Any]]:
    """The first ``count`` pairs, each with ``prompt``, ``chosen`` and ``rejected`` as TRL reads them."""
    lines = PAIRS.read_text(encoding="utf-8").splitlines()[:count]
    return [json.loads(line) for line in lines]


def peers_recipe(base: Path, pairs_file: Path, adapter: Path, *, epochs: int, threads: int) -> dict[str, Any]:
    """What ``peers/trl_dpo.py`` reads. TRL's own defaults stand for everything that is not named."""
    return {
        "base": str(base),
        "pairs": str(pairs_file),
        "adapter": str(adapter),
        "rank": RANK,
        "alpha": ALPHA,
        "projections": list(PROJECTIONS),
        "epochs": epochs,
        "batch": BATCH,
        "learning_rate": LEARNING_RATE,
        "beta": BETA,
        "threads": threads,
        "seed": SEED,
        "options": {},
    }


def our_settings(epochs: int, threads: int) -> dict[str, Any]:
    """The section ``training`` for the same: the pairs alone, no other wording, nothing replayed, nothing measured."""
    recipe = {
        "wordings": 1,
        "batch": BATCH,
        "likelihood_weight": 0.0,
        "preference_weight": 1.0,
        "preference_beta": BETA,
        "replay": {"prompts": 0, "weight": 0.0, "batch": 0},
        "lora": {"rank": RANK, "alpha": ALPHA},
        "optimiser": {"epochs": epochs, "least_steps": 0, "learning_rate": LEARNING_RATE, "warmup_steps": 0},
    }
    return {
        "recipes": {"dpo": recipe},
        "seed": SEED,
        "threads": threads,
        "idle_priority": False,
        "evaluation": {
            "unrelated_prompts": 1,
            "held_out_wordings": 1,
            "known_questions": 1,
            "form_prompts": 1,
            "answer_tokens": 1,
        },
    }
