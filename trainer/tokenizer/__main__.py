"""``python -m trainer.tokenizer RUN [key.path=value …] [--against NAME=FILE.gguf …] [--again]``: a run's tokenizer.

Trains it on a sample of the run's cleaned texts, which are made where they are not there, and tells how many tokens it
takes for the texts that are never trained on, beside the vocabularies of other models. ``--again``: trains anew.
"""

from __future__ import annotations

import sys
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final

from configs.pretraining.places import Places
from trainer.asked_run import run_parser
from trainer.corpus.command import carry
from trainer.corpus.preparing import Preparation
from trainer.telling import tell_line
from trainer.tokenizer.reporting import fertilities

# Enough for a figure that another thousand would not change by a hundredth.
COUNTED: Final = 1000  # documents


def main(arguments: list[str]) -> int:
    """0 when the tokenizer is there, 130 when it was told to stop, 2 for wrong usage, 1 for the rest."""
    parser = run_parser("trainer.tokenizer")
    parser.add_argument("--processes", type=int, help="that clean documents (default: one a processor)")
    parser.add_argument("--against", metavar="NAME=FILE", type=_named, action="append", default=[])
    parser.add_argument("--again", action="store_true", help="train it, also where there is one")
    options = parser.parse_args(arguments)
    work = partial(_train, against=options.against, again=options.again)
    return carry(options.run, options.changes, options.processes, work)


def _train(preparation: Preparation, places: Places, against: list[tuple[str, Path]], again: bool) -> None:
    texts = preparation.texts()
    tokenizer = preparation.tokenizer(texts, again=again)
    unseen = list(islice(preparation.unseen(texts), COUNTED))
    rows = [row.as_json() for row in fertilities(tokenizer, against, unseen)]
    facts = {"folder": str(places.tokenizer), **tokenizer.as_json(), "documents": len(unseen), "rows": rows}
    tell_line("tokenizer_counted", 1.0, facts)


def _named(given: str) -> tuple[str, Path]:
    name, equals, path = given.partition("=")
    return (name, Path(path)) if equals else (Path(given).stem, Path(given))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
