"""The sides of learning: what was corrected, how it is trained, which weights answer, what somebody has to decide."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widget import Widget

from app.interface.learning.deciding import DecidePane
from app.interface.learning.lessons import LessonsPane
from app.interface.learning.snapshots import SnapshotsPane
from app.interface.learning.training import TrainingPane
from app.interface.sides import SidesScreen


class LearningScreen(SidesScreen[None]):
    """Lessons, trainings, snapshots and decisions, each in a tab of its own."""

    TEXTS = "screen.learning"
    INSIDE = "LessonList, #run-buttons Button, SnapshotList, DecideList"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f9", "close", show=False),
        Binding("f2", "tab('lessons')", show=False),
        Binding("f3", "tab('training')", show=False),
        Binding("f4", "tab('snapshots')", show=False),
        Binding("f5", "tab('decide')", show=False),
    ]

    def sides(self) -> Iterable[tuple[str, str, Widget]]:
        return (
            ("F2", "lessons", LessonsPane()),
            ("F3", "training", TrainingPane()),
            ("F4", "snapshots", SnapshotsPane()),
            ("F5", "decide", DecidePane()),
        )
