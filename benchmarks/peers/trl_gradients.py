"""Run in the peer environment ``trl``: DPOTrainer's loss and gradients for one batch, at given LoRA weights.

    python trl_gradients.py RECIPE.json

The recipe is that of ``trl_trainer.py``, and names ``loss``, ``weights`` (safetensors with PEFT's names) and
``gradients`` (the file to write, with the same names). The last line says the loss.
"""

import json
import sys
from pathlib import Path
from typing import Any

from peft import set_peft_model_state_dict
from safetensors.torch import load_file, save_file
from trl_trainer import dpo_trainer


def main(recipe: dict[str, Any]) -> None:
    """Compute the loss of all pairs as one batch, in float32."""
    trainer = dpo_trainer(recipe, loss_type=[recipe["loss"]], bf16=False)
    # Set only now: what the trainer refers to is the base without any adapter.
    set_peft_model_state_dict(trainer.model, load_file(recipe["weights"]))
    trainer.model.train()
    batch = trainer.data_collator([trainer.train_dataset[number] for number in range(len(trainer.train_dataset))])
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
