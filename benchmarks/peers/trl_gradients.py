"""Run in the peer environment ``trl``: DPOTrainer's loss and gradients for one batch, at given LoRA weights.

    python trl_gradients.py RECIPE.json

The recipe is that of ``trl_dpo.py``, and names ``loss``, ``weights`` (safetensors with PEFT's names) and ``gradients``
(the file to write, with the same names). The last line says the loss.
"""

import json
import sys
from pathlib import Path
from typing import Any

import torch
from datasets import load_dataset
from peft import LoraConfig, set_peft_model_state_dict
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import DPOConfig, DPOTrainer


def main(recipe: dict[str, Any]) -> None:
    """Compute the loss of all pairs as one batch, in float32."""
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
        loss_type=[recipe["loss"]],
        use_cpu=True,
        bf16=False,
        report_to="none",
        disable_tqdm=True,
    )
    trainer = DPOTrainer(model=model, args=arguments, train_dataset=pairs, processing_class=tokenizer, peft_config=lora)
    # Set only now: what the trainer refers to is the base without any adapter.
    set_peft_model_state_dict(trainer.model, load_file(recipe["weights"]))
    trainer.model.train()
    batch = trainer.data_collator([trainer.train_dataset[number] for number in range(len(pairs))])
    loss = trainer.compute_loss(trainer.model, batch)
    loss.backward()
    gradients = {
        name.replace(".default.", "."): parameter.grad
        for name, parameter in trainer.model.named_parameters()
        if parameter.grad is not None
    }
    save_file(gradients, recipe["gradients"])
    print(json.dumps({"loss": float(loss.detach())}))


if __name__ == "__main__":
    main(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
