"""A trained model in the forms that others read: GGUF for the engine, Hugging Face's for everybody else.

``python -m trainer.pretraining.exporting RUN [key.path=value …]`` writes them of the run's newest checkpoint, as the
end of a training does, and tells a line of JSON for each.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from configs import disk
from configs.errors import EnlaceError
from configs.home import Home
from configs.pretraining.composing import compose
from configs.pretraining.places import Places
from configs.pretraining.shape import Shape
from configs.settings import Settings, load_settings
from engine.fit import usable_processors
from engine.forms.quantising import quantise
from engine.scoring import LocalModel
from trainer.asked_run import run_parser
from trainer.checkpoints import newest
from trainer.corpus.opening import open_loaders
from trainer.errors import ParityBroken
from trainer.packing import Item
from trainer.parity import parity
from trainer.place import ALONE
from trainer.pretraining.errors import NothingTrained
from trainer.pretraining.files import PretrainingFiles
from trainer.pretraining.forms import write_gguf, write_hugging_face
from trainer.pretraining.resuming import identity_of
from trainer.pretraining.telling import Teller
from trainer.pretraining.training import Training
from trainer.room import room_at
from trainer.telling import Tell, tell_starter
from trainer.tokenizer.tokenizer import Tokenizer

EXACT = "f16"
SMALLER = ("q8_0", "q4_0")
BLOCK = 32  # numbers that share a scale in either
# Tokens of unseen text by which the forms are compared, the first of them as what is given.
GIVEN, COMPARED = 8, 64


def export(places: Places, settings: Settings, tell: Tell) -> None:
    """Write all forms of the newest checkpoint into the run's folder ``out``, each whole, and tell of each.

    Raises NothingTrained, ParityBroken where llama.cpp does not serve the trained function, FormNotMade, NoRoom.
    """
    files, run = PretrainingFiles(places.folder), places.run
    tensors = _newest(files, identity_of(run), run.name)
    tokenizer = Tokenizer.load(places.tokenizer)
    training = _on_the_processor(places, tensors)
    item = _item(places, tokenizer)
    with room_at(files.out):
        files.out.mkdir(mode=0o700, parents=True, exist_ok=True)
    exact = files.out / f"{run.name}-{EXACT}.gguf"
    write_gguf(training.parameters, run, tokenizer, exact)
    bound = settings.training.gate.parity_kl
    for path in _forms(exact, run.model, run.hardware.threads or len(usable_processors())):
        with LocalModel(path, settings.engine, context_size=run.model.context, threads=1) as served:
            divergence = parity(training.decoder, served, [item])
        tell("exported", None, {"path": str(path), "bytes": path.stat().st_size, "parity_kl": divergence})
        if path == exact and not divergence <= bound:
            raise ParityBroken(kl=divergence, bound=bound)
    folder = files.out / "hugging-face"
    size = write_hugging_face(training.parameters, run, tokenizer, folder)
    tell("exported", None, {"path": str(folder), "bytes": size})


def _newest(files: PretrainingFiles, identity: str, name: str) -> Mapping[str, torch.Tensor]:
    found = newest(files, identity)
    if found is None:
        raise NothingTrained(run=name)
    return {name: value for name, value in found[0].items() if "/" in name}


def _on_the_processor(places: Places, tensors: Mapping[str, torch.Tensor]) -> Training:
    """The model in float32, wherever it was trained."""
    hardware = places.run.hardware.model_copy(
        update={"device": "cpu", "precision": "float32", "attention": "math", "processes": 1}
    )
    training = Training(places.run.model_copy(update={"hardware": hardware}))
    training.take_up_tensors(tensors)
    return training


def _item(places: Places, tokenizer: Tokenizer) -> Item:
    """The beginning of unseen text."""
    length = min(COMPARED, places.run.model.context - 1)
    shape = {"vocabulary": places.run.model.vocabulary, "length": length}
    loader = open_loaders(places.corpus, 0, batches={"validation": 1}, tokenizer=tokenizer.sha256, **shape)
    row: NDArray[np.int64] = loader["validation"].next_batch(1, length)[0]
    given = min(GIVEN, length // 2)
    return Item(tuple(map(int, row[:given])), tuple(map(int, row[given:length])))


def _forms(exact: Path, shape: Shape, threads: int) -> Iterator[Path]:
    """The file that is there, and those of fewer bits, one after the other as they are written.

    There are none of a model whose rows are not made of whole blocks.
    """
    yield exact
    rows = (shape.width, shape.heads * shape.head_size, shape.feed_forward)
    for kind in SMALLER if all(row % BLOCK == 0 for row in rows) else ():
        path = exact.with_name(exact.name.replace(f"-{EXACT}.", f"-{kind}."))
        with room_at(path), disk.put_in_place(path, alone=True) as aside:
            quantise(exact, aside, kind, {}, threads)
        yield path


def main(arguments: list[str]) -> int:
    """0 when all forms are there, 2 for wrong usage, 1 for what could not be written."""
    options = run_parser("trainer.pretraining.exporting").parse_args(arguments)
    home = Home.find(os.environ)
    try:
        places = Places(home, compose(options.run, options.changes, home, Path.cwd()).run)
        export(places, load_settings(home, os.environ), Teller(places.folder, ALONE))
    except EnlaceError as error:
        return tell_starter(error)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
