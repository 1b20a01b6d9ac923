"""``python -m benchmarks.one_pretraining TASK``: steps of a pretraining, and before each the rate of a plain product.

TASK is the file that ``benchmarks.pretraining_steps`` writes. One line of JSON: seconds and loss of each step, and what
the product before it did, in operations a second.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.product import Product
from configs.pretraining.schema import Run
from trainer.place import ALONE
from trainer.precision import DTYPES
from trainer.pretraining.carrying import together_for
from trainer.pretraining.training import Training


def main(path: Path) -> None:
    """Take the steps and write the line."""
    task: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    run = Run.model_validate(task["run"])
    seconds, losses, peaks = [], [], []
    with together_for(run, ALONE, path.with_name("meeting"), task["timeout_s"]) as together:
        training = Training(run, together)
        product = Product(DTYPES[run.hardware.precision])
        for number, rows in enumerate(np.load(task["data"])):
            peaks.append(product.rate())
            began = time.perf_counter()
            losses.append(training.step(rows, number).loss)
            seconds.append(time.perf_counter() - began)
    sys.stdout.write(json.dumps({"seconds": seconds, "losses": losses, "peaks": peaks}) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
