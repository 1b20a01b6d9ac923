"""``python -m trainer.pretraining RUN [key.path=value …]``: a model of one's own is trained, or goes on being trained.

RUN is the name of a run or the path of its file. Its processes are begun here, where they are several, or by
``torchrun --nproc-per-node N -m trainer.pretraining RUN hardware.processes=N``. A signal to stop has the step finished
and kept. At the end the model is written for the engine and for others (``trainer.pretraining.exporting``).
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from configs.errors import EnlaceError
from configs.home import Home
from configs.pretraining.composing import compose
from configs.pretraining.places import Places
from configs.settings import load_settings
from trainer.asked_run import INTERRUPTED, run_parser
from trainer.corpus.index import read_index
from trainer.courtesy import wish_to_stop
from trainer.place import begun_by_a_starter, place_in
from trainer.pretraining.profiles import check_machine
from trainer.pretraining.starting import carry_together, this_command
from trainer.telling import tell_starter


def main(arguments: list[str]) -> int:
    """0 when the budget is spent, 130 when it was asked to stop and can go on, 2 for wrong usage, 1 for the rest."""
    options = run_parser("trainer.pretraining").parse_args(arguments)
    place, home = place_in(os.environ), Home.find(os.environ)
    try:
        composed = compose(options.run, options.changes, home, Path.cwd())
        check_machine(composed)
        places, settings = Places(home, composed.run), load_settings(home, os.environ)
        read_index(places.corpus)
        stopping = wish_to_stop()
        if composed.run.hardware.processes > 1 and not begun_by_a_starter(os.environ):
            return carry_together(
                this_command(arguments), places, settings.training.budget.stop_grace_seconds, stopping
            )
        # What a wrong run need not wait for.
        from trainer.pretraining.carrying import carry
        from trainer.pretraining.exporting import export
        from trainer.pretraining.telling import Teller

        tell = Teller(places.folder, place)
        end = carry(places, settings, place, tell, stopping)
        if end == "done" and place.first:
            export(places, settings, tell)
    except EnlaceError as error:
        return tell_starter(error)
    return 0 if end == "done" else INTERRUPTED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
