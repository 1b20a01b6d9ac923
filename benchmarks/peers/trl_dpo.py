"""Run in the peer environment ``trl``: TRL's DPOTrainer over a file of pairs, from loading to the saved adapter.

    python trl_dpo.py RECIPE.json

The recipe is that of ``trl_trainer.py``, and names ``epochs``, ``batch``, ``learning_rate``, ``seed`` and ``options``
(further fields of DPOConfig).
"""

import json
import sys
from pathlib import Path
from typing import Any

from trl_trainer import dpo_trainer


def main(recipe: dict[str, Any]) -> None:
    """Train as ``recipe`` says and save the adapter; the last line says the mean loss."""
    trainer = dpo_trainer(
        recipe,
        num_train_epochs=recipe["epochs"],
        per_device_train_batch_size=recipe["batch"],
        learning_rate=recipe["learning_rate"],
        seed=recipe["seed"],
        save_strategy="no",
        **recipe["options"],
    )
    outcome = trainer.train()
    trainer.save_model(recipe["adapter"])
    print(json.dumps({"loss": outcome.training_loss}))


if __name__ == "__main__":
    main(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
