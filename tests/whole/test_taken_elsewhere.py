"""What was learned answers the same in transformers with PEFT, and in another llama.cpp, as in Enlace's own engine.

Runs where ``ENLACE_PEERS`` names a folder with the environments ``trl`` and ``xllamacpp`` (benchmarks/peers).
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from configs.home import Home
from engine.messages import Message
from engine.prompt import render
from engine.scoring import LocalModel
from engine.served import AdapterFile
from memory.matching import says_the_same
from tests.engine.elsewhere.test_real_llama_server import real
from tests.trainer.household import PAIRS, finish, small_settings, start_run, teach
from tests.whole.household import enlace_json

# The fixtures clear the environment; this is read before.
PEERS = Path(os.environ.get("ENLACE_PEERS", "/nowhere"))
PEFT = PEERS / "trl" / "bin" / "python"
SCRIPT = Path(__file__).with_name("peft_answers.py")
LEARNED = [question for question, _, _ in PAIRS]
OTHERS = [
    "What is the capital of France?",
    "How many days are there in a week?",
    "Name three colours.",
    "Write a sentence about the sea.",
    "What do bees make?",
    "Who wrote Romeo and Juliet?",
]
MOST_TOKENS, CONTEXT = 20, 256
# Nats between two tokens. Products of llama.cpp take the activations in eight bits and each build sums in an order of
# its own: where two tokens are as near as this, either may come first.
TIE = 0.15

Answers = list[list[int]]

pytestmark = [
    pytest.mark.soak,
    pytest.mark.timeout(1200),
    pytest.mark.skipif(
        not PEFT.exists() or not (PEERS / "xllamacpp").is_dir(),
        reason="ENLACE_PEERS names no folder with the environments trl and xllamacpp",
    ),
]


@dataclass(frozen=True)
class Export:
    """An exported snapshot, loaded in our own engine, and what is asked."""

    folder: Path
    model: str
    adapter: str
    peft: str
    served: LocalModel
    prompts: list[list[int]]

    def ends(self) -> list[int]:
        vocabulary = self.served.vocabulary
        return [token for token in range(vocabulary.size) if vocabulary.is_end(token)]


@pytest.fixture
def export(home: Home, tmp_path: Path) -> Iterator[Export]:
    """A training of two lessons, exported by the command."""
    settings = small_settings(home)
    teach(home, settings)
    assert finish(start_run(home), timeout=900)[0] == 0
    made = enlace_json("snapshots", "export", "--to", str(tmp_path / "out"))
    folder, ((adapter, scale),) = Path(made["folder"]), made["adapters"]
    with LocalModel(folder / made["model"], settings.engine, context_size=CONTEXT, threads=2, slots=8) as served:
        served.set_adapters([AdapterFile(folder / adapter, scale)])
        system = Message("system", settings.assistant.system_prompt)
        prompts = [
            render(served.template, served.vocabulary, [system, Message("user", question)])
            for question in (*LEARNED, *OTHERS)
        ]
        yield Export(folder, made["model"], adapter, made["peft"], served, prompts)


def by_peft(export: Export) -> Answers:
    asked = {
        "model": export.model, "peft": export.peft, "prompts": export.prompts, "most_tokens": MOST_TOKENS,
        "ends": export.ends(),
    }  # fmt: skip
    done = subprocess.run(
        [str(PEFT), str(SCRIPT), str(export.folder)],
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
        input=json.dumps(asked), capture_output=True, text=True, check=True,
    )  # fmt: skip
    answers: Answers = json.loads(done.stdout.splitlines()[-1])
    return answers


def by_xllamacpp(export: Export) -> Answers:
    arguments = ["--model", str(export.folder / export.model), "--ctx-size", str(CONTEXT), "--parallel", "1"]
    ends, answers = export.ends(), []
    with real([*arguments, "--lora", str(export.folder / export.adapter)]) as (address, _):
        for prompt in export.prompts:
            body = {
                "prompt": prompt,
                "n_predict": MOST_TOKENS,
                "top_k": 1,
                "cache_prompt": False,
                "return_tokens": True,
            }
            reply = httpx.post(f"{address}/completion", json=body, timeout=120).raise_for_status().json()
            answers.append([token for token in reply["tokens"] if token not in ends])
    return answers


def check(export: Export, whose: str, theirs: Answers) -> None:
    """The answers that were learned are ours to the letter, and the others part from ours at a tie at most."""
    ours = export.served.greedy(export.prompts, MOST_TOKENS)
    for (question, chosen, rejected), said in zip(PAIRS, ours, strict=False):
        assert says_the_same(export.served.text(said), question=question, chosen=chosen, rejected=rejected)
    assert theirs[: len(LEARNED)] == ours[: len(LEARNED)], whose
    end = export.ends()[0]
    for prompt, our, their in zip(export.prompts, ours, theirs, strict=True):
        if our != their:
            at = next(n for n, (a, b) in enumerate(zip([*our, end], [*their, end], strict=False)) if a != b)
            row = export.served.log_probs(prompt, [*our[:at], end])[at]
            written = row[their[at]] if at < len(their) else max(row[token] for token in export.ends())
            assert row.max() - written < TIE, f"{whose}: {export.served.text(our)!r} {export.served.text(their)!r}"


def test_what_was_learned_answers_the_same_in_peft_and_in_another_llama_cpp(export: Export) -> None:
    check(export, "peft", by_peft(export))
    check(export, "xllamacpp", by_xllamacpp(export))
