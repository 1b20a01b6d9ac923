"""In the peer environment ``trl``: the DPOTrainer that both scripts about preference pairs use, on the processor."""

from typing import Any

import torch
from datasets import load_dataset
from peft import LoraConfig
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import DPOConfig, DPOTrainer


def dpo_trainer(recipe: dict[str, Any], **options: Any) -> DPOTrainer:
    """TRL's trainer of the recipe's LoRA over its base, in float32.

    The recipe names ``base`` (folder), ``pairs`` (JSONL), ``adapter`` (folder to write), ``rank``, ``alpha``,
    ``projections``, ``beta`` and ``threads``; ``options`` are further fields of DPOConfig.
    """
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
        beta=recipe["beta"],
        use_cpu=True,
        report_to="none",
        disable_tqdm=True,
        **options,
    )
    return DPOTrainer(model=model, args=arguments, train_dataset=pairs, processing_class=tokenizer, peft_config=lora)
