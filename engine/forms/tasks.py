"""``python -m engine.forms.tasks``: one measurement, or one form written, in a process of its own.

Native code may abort and memory may run out: then this process ends, and whoever started it has a line in a table.
It reads one line of JSON, the task, from standard input and ends at once where that is closed before it is done; its
result, or its error, is one line of JSON on the file descriptor that its argument names.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from configs.errors import EnlaceError
from configs.sections.engine import EngineSettings
from engine.chunks import largest_batch
from engine.fit import physical_cores
from engine.forms.losses import keep_reference, measure_loss
from engine.forms.quantising import quantise
from engine.forms.steadiness import steadiness
from engine.forms.texts import Piece, pieces
from engine.library import library, set_thread_spins
from engine.native import Adapter, Context, ContextShape, Model
from engine.scoring import LocalModel
from engine.served import AdapterFile

Task = dict[str, Any]
Result = dict[str, Any]


def make(task: Task) -> Result:
    """Write a form of a model's file; its size."""
    target = Path(task["target"])
    quantise(Path(task["source"]), target, task["type"], task["tensors"], task["threads"] or physical_cores())
    return {"bytes": target.stat().st_size}


def reference(task: Task) -> Result:
    """Keep what the model holds of every measured token."""
    with _scorer(task) as scorer:
        return {"rows": keep_reference(scorer, _pieces(task, scorer), Path(task["store"]))}


def loss(task: Task) -> Result:
    """What a form loses against that."""
    with _scorer(task) as scorer:
        return asdict(measure_loss(scorer, _pieces(task, scorer), Path(task["store"])))


def speed(task: Task) -> Result:
    """Tokens a second of a prompt that is read and of an answer that is written after it; bytes of memory taken."""
    settings = EngineSettings.model_validate(task["settings"])
    read, written, chunk = task["read_tokens"], task["written_tokens"], settings.prompt_chunk
    model, context = _open(task, settings, read + written, slots=1)
    # Which tokens they are makes no difference to the time; the same ones are taken for every form.
    tokens = [place * 7919 % model.vocab_size for place in range(read + written)]
    context.decode([(token, place, 0, place == chunk - 1) for place, token in enumerate(tokens[:chunk])])
    context.clear()
    begun = time.perf_counter()
    for begin in range(0, read, chunk):
        end = min(begin + chunk, read)
        context.decode([(tokens[place], place, 0, place == read - 1) for place in range(begin, end)])
    between = time.perf_counter()
    for place in range(read, read + written):
        context.decode([(tokens[place], place, 0, True)])
        context.logits(0)
    ended = time.perf_counter()
    steps = -(-read // chunk)
    return {
        "read": read / (between - begun),
        "write": written / (ended - between),
        "step_s": (between - begun) / steps,
    }


def steady(task: Task) -> Result:
    """The largest difference of any logit between ways of computing the same tokens, by the name of the way."""
    settings = EngineSettings.model_validate(task["settings"])
    tokens = task["tokens"]
    model, context = _open(task, settings, tokens, slots=settings.slots)
    return steadiness(model, context, settings, tokens)


def device(_task: Task) -> Result:
    """Whether this build of llama.cpp can use an accelerator, and one is there."""
    return {"offload": bool(library().llama_supports_gpu_offload())}


TASKS: dict[str, Callable[[Task], Result]] = {
    "make": make,
    "reference": reference,
    "loss": loss,
    "speed": speed,
    "steady": steady,
    "device": device,
}


def main(arguments: list[str]) -> int:
    """Do the task; 0 when its result was told, 1 when its error was."""
    task = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with, args=(sys.stdin,), daemon=True).start()
    with os.fdopen(int(arguments[0]), "w") as pipe:
        try:
            set_thread_spins(int(task["spins"]))
            answer: Any = {"result": TASKS[task["do"]](task)}
        except EnlaceError as error:
            answer = {"error": error.code, "reason": str(error.facts.get("reason", error.code))}
        except (OSError, MemoryError) as error:
            answer = {"error": "machine", "reason": str(error) or type(error).__name__}
        pipe.write(json.dumps(answer) + "\n")
    return 1 if "error" in answer else 0


def _end_with(standard_input: IO[str]) -> None:
    """End this process when whoever started it has gone."""
    standard_input.read()
    os._exit(1)


def _scorer(task: Task) -> LocalModel:
    settings = EngineSettings.model_validate(task["settings"])
    return LocalModel(
        Path(task["model"]),
        settings,
        context_size=task["context_size"],
        threads=settings.threads or physical_cores(),
        adapters=[AdapterFile(Path(each["path"]), each["scale"]) for each in task["adapters"]],
    )


def _pieces(task: Task, scorer: LocalModel) -> Sequence[Piece]:
    return pieces(scorer.vocabulary, scorer.template, task["system_prompt"], task["loss_tokens"])


def _open(task: Task, settings: EngineSettings, size: int, *, slots: int) -> tuple[Model, Context]:
    model = Model(Path(task["model"]), gpu_layers=settings.gpu_layers)
    shape = ContextShape(
        context_size=size,
        slots=slots,
        batch_size=largest_batch(settings),
        outputs=max(slots, settings.prompt_chunk),
        threads=settings.threads or physical_cores(),
        flash_attention=settings.flash_attention,
    )
    context = Context(model, shape)
    context.set_adapters([(Adapter(model, Path(each["path"])), each["scale"]) for each in task["adapters"]])
    return model, context


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
