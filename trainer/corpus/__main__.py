"""``python -m trainer.corpus RUN [key.path=value …] [--processes N]``: a run's text, from its sources to its shards.

RUN is the name of a run or the path of its file. What is done already is not done again; a signal to stop ends it at a
place from which the same goes on. Tells a line of JSON for each event, and the report in the last one.
"""

from __future__ import annotations

import sys

from configs.pretraining.places import Places
from trainer.asked_run import run_parser
from trainer.corpus.command import carry
from trainer.corpus.preparing import Preparation
from trainer.telling import tell_line


def main(arguments: list[str]) -> int:
    """0 when the corpus is there, 130 when it was told to stop, 2 for wrong usage, 1 for the rest."""
    parser = run_parser("trainer.corpus")
    parser.add_argument("--processes", type=int, help="that clean documents (default: one a processor)")
    options = parser.parse_args(arguments)
    return carry(options.run, options.changes, options.processes, _prepare)


def _prepare(preparation: Preparation, places: Places) -> None:
    tell_line("corpus_done", 1.0, preparation.corpus())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
