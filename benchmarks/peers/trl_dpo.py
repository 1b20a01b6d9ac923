"""Run in the peer environment ``trl``: TRL's DPOTrainer over a file of pairs, from loading to the saved adapter.

    python trl_dpo.py RECIPE.json

The recipe names ``base`` (folder), ``pairs`` (JSONL), ``adapter`` (folder to write), ``rank``, ``alpha``,
``projections``, ``epochs``, ``batch``, ``learning_rate``, ``beta``, ``threads``, ``seed`` and ``options`` (further
fields of DPOConfig).
"""

import json
import sys
from pathlib import Path
from typing import Any

import torch
from datasets import load_dataset
from peft import LoraConfig
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import DPOConfig, DPOTrainer


def main(recipe: dict[str, Any]) -> None:
    """Train as ``recipe`` says and save the adapter; the last line says the mean loss."""
    torch.set_num_threads(recipe["threads"])
    model = AutoModelForCausalLM.from_pretrained(recipe["base"], dtype=torch.float32)
    tokenizer = AutoTokenizer.from_pretrained(recipe["base"])
    pairs = load_dataset("json", data_files=recipe["pairs"], split="train", cache_dir=recipe["adapter"] + ".cache")
    lora = LoraConfig(
        r=recipe["rank"],
        lora_alpha=recipe["alpha"],
        lora_dropout=0.0,
        target_modules=recipe["projections"],
        task_type="CAUSAL_LM",
    )
    arguments = DPOConfig(
        output_dir=recipe["adapter"],
        num_train_epochs=recipe["epochs"],
        per_device_train_batch_size=recipe["batch"],
        learning_rate=recipe["learning_rate"],
        beta=recipe["beta"],
        seed=recipe["seed"],
        use_cpu=True,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
        **recipe["options"],
    )
    trainer = DPOTrainer(model=model, args=arguments, train_dataset=pairs, processing_class=tokenizer, peft_config=lora)
    outcome = trainer.train()
    trainer.save_model(recipe["adapter"])
    print(json.dumps({"loss": outcome.training_loss}))


if __name__ == "__main__":
    main(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
