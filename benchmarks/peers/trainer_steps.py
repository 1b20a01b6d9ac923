"""In the peer environment ``trl``: the steps of a pretraining by transformers' Trainer, on the processor.

``python trainer_steps.py TASK``: the file that ``benchmarks.pretraining_steps`` writes. One line of JSON: seconds and
loss of each step.
"""

import json
import sys
import time
from typing import Any

import numpy as np
import torch
from transformers import Qwen3Config, Qwen3ForCausalLM, Trainer, TrainerCallback, TrainingArguments


class Clock:
    """Takes the time and the loss of each step."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.losses: list[float] = []
        self.heard: Any = TrainerCallback()
        self.heard.on_step_begin, self.heard.on_step_end, self.heard.on_log = self._begin, self._end, self._log

    def _begin(self, *given: Any, **named: Any) -> None:
        self._began = time.perf_counter()

    def _end(self, *given: Any, **named: Any) -> None:
        self.seconds.append(time.perf_counter() - self._began)

    def _log(self, *given: Any, logs: dict[str, float], **named: Any) -> None:
        if "loss" in logs:
            self.losses.append(logs["loss"])


def main(path: str) -> None:
    """Take the steps and write the line."""
    with open(path, encoding="utf-8") as file:
        task: dict[str, Any] = json.load(file)
    torch.set_num_threads(task["threads"])
    shape, adamw = task["shape"], task["adamw"]
    model = Qwen3ForCausalLM(
        Qwen3Config(
            vocab_size=shape["vocabulary"],
            hidden_size=shape["width"],
            intermediate_size=shape["feed_forward"],
            num_hidden_layers=shape["layers"],
            num_attention_heads=shape["heads"],
            num_key_value_heads=shape["kv_heads"],
            head_dim=shape["head_size"],
            max_position_embeddings=shape["context"],
            rope_theta=shape["rope_base"],
            rms_norm_eps=shape["norm_epsilon"],
            tie_word_embeddings=True,
            use_cache=False,
        )
    )
    batches = np.load(task["data"])[:, :, :-1]
    rows = [{"input_ids": row, "labels": row} for row in torch.from_numpy(batches).flatten(0, 1)]
    arguments = TrainingArguments(
        output_dir=task["folder"],
        max_steps=len(batches),
        per_device_train_batch_size=batches.shape[1],
        learning_rate=adamw["learning_rate"],
        adam_beta1=adamw["beta1"],
        adam_beta2=adamw["beta2"],
        adam_epsilon=adamw["epsilon"],
        weight_decay=adamw["weight_decay"],
        max_grad_norm=task["clip"],
        optim="adamw_torch_fused",
        lr_scheduler_type="constant",
        bf16=task["fabric_precision"] == "bf16-mixed",
        torch_compile=task["compiled"],
        use_cpu=True,
        logging_steps=1,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
    )
    clock = Clock()
    Trainer(model=model, args=arguments, train_dataset=rows, callbacks=[clock.heard]).train()
    print(json.dumps({"seconds": clock.seconds, "losses": clock.losses}))


if __name__ == "__main__":
    main(sys.argv[1])
