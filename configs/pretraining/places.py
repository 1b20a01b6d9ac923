"""Where a run keeps what it makes."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from configs.home import Home
from configs.pretraining.schema import Run

_DIGITS: Final = 16


@dataclass(frozen=True)
class Places:
    """The folders of one run; none is made here."""

    home: Home
    run: Run

    @property
    def folder(self) -> Path:
        """The run's own: its resolved file, checkpoints, what it measured and what came of it."""
        return self.home.pretraining / self.run.name

    @property
    def resolved(self) -> Path:
        """The resolved whole, written when the run begins; a run that goes on must have the same."""
        return self.folder / "run.yaml"

    @property
    def checkpoints(self) -> Path:
        return self.folder / "checkpoints"

    @property
    def corpus(self) -> Path:
        """Shards and tokenizer, shared by all runs whose text and vocabulary are the same."""
        made_of = {"data": self.run.data.model_dump(mode="json"), "vocabulary": self.run.model.vocabulary}
        digest = hashlib.sha256(json.dumps(made_of, sort_keys=True).encode()).hexdigest()
        return self.home.corpora / digest[:_DIGITS]

    @property
    def tokenizer(self) -> Path:
        return self.corpus / "tokenizer"
