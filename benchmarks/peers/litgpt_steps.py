"""In the peer environment ``litgpt``: the steps of a pretraining as ``litgpt pretrain`` takes them, on the processor.

``python litgpt_steps.py TASK``: the file that ``benchmarks.pretraining_steps`` writes. One line of JSON: seconds and
loss of each step.
"""

import json
import sys
import time
from typing import Any

import lightning
import numpy as np
import torch
from litgpt import GPT, Config
from litgpt.utils import chunked_cross_entropy


def main(path: str) -> None:
    """Take the steps and write the line."""
    with open(path, encoding="utf-8") as file:
        task: dict[str, Any] = json.load(file)
    torch.set_num_threads(task["threads"])
    shape = task["shape"]
    config = Config(
        name="peer",
        block_size=shape["context"],
        n_layer=shape["layers"],
        n_embd=shape["width"],
        n_head=shape["heads"],
        n_query_groups=shape["kv_heads"],
        head_size=shape["head_size"],
        intermediate_size=shape["feed_forward"],
        padded_vocab_size=shape["vocabulary"],
        vocab_size=shape["vocabulary"],
        norm_class_name="RMSNorm",
        norm_eps=shape["norm_epsilon"],
        norm_qk=True,
        parallel_residual=False,
        rotary_percentage=1.0,
        rope_base=int(shape["rope_base"]),
        bias=False,
        mlp_class_name="LLaMAMLP",
    )
    fabric = lightning.Fabric(accelerator="cpu", devices=1, precision=task["fabric_precision"])
    model = GPT(config)
    model.transformer.wte.weight = model.lm_head.weight
    if task["compiled"]:
        model = torch.compile(model)
    model = fabric.setup(model)
    adamw = task["adamw"]
    optimizer = torch.optim.AdamW(
        model.parameters(),
        lr=adamw["learning_rate"],
        betas=(adamw["beta1"], adamw["beta2"]),
        eps=adamw["epsilon"],
        weight_decay=adamw["weight_decay"],
        fused=True,
    )
    optimizer = fabric.setup_optimizers(optimizer)
    seconds, losses = [], []
    for rows in np.load(task["data"]):
        began = time.perf_counter()
        whole = torch.from_numpy(rows)
        inputs, targets = whole[:, :-1].contiguous(), whole[:, 1:].contiguous()
        loss = chunked_cross_entropy(model(inputs), targets)
        fabric.backward(loss)
        fabric.clip_gradients(model, optimizer, max_norm=task["clip"])
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
        seconds.append(time.perf_counter() - began)
    print(json.dumps({"seconds": seconds, "losses": losses}))


if __name__ == "__main__":
    main(sys.argv[1])
