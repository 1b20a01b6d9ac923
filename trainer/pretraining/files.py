"""The files of a run beside its configuration: checkpoints, events, and what comes of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class PretrainingFiles:
    """``folder``: the run's own."""

    folder: Path

    def checkpoint(self, step: int) -> Path:
        """Where the training is kept as it was after ``step`` steps."""
        return self.folder / "checkpoints" / f"checkpoint-{step:08d}.bin"

    def checkpoints(self) -> list[Path]:
        """Those there are, the oldest first; also what a kill left half written of one."""
        return sorted((self.folder / "checkpoints").glob("checkpoint-*"))

    @property
    def lock(self) -> Path:
        """Held (flock) by whoever trains the run."""
        return self.folder / "lock"

    @property
    def meeting(self) -> Path:
        """Where the processes of a training find each other."""
        return self.folder / "meeting"

    @property
    def out(self) -> Path:
        """What others read: GGUF, and the form of Hugging Face."""
        return self.folder / "out"
