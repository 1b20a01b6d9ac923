"""The snapshots: which there are, why each was made, what the gate measured, and the way back."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, ClassVar, Final

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from app.going_back import answers_in_flight, go_back
from app.interface.learning.checks import checks_text
from app.interface.said import Said
from app.interface.times import day_and_time
from app.probation_text import gone, on_probation
from app.report.wording import duration
from app.terminal_text import clean
from configs.errors import EnlaceError

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.interface.app import EnlaceApp
    from memory.snapshots import Snapshot


# What the detail keeps free at its sides.
_EDGES: Final = 4


class SnapshotList(OptionList):
    """The rows; V lets the chosen one answer again."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("v", "go_back", show=False)]

    def action_go_back(self) -> None:
        pane = next(each for each in self.ancestors if isinstance(each, SnapshotsPane))
        pane.go_back()


class SnapshotsPane(Vertical):
    """A list on the left, the chosen snapshot on the right."""

    app: EnlaceApp

    def compose(self) -> ComposeResult:
        with Horizontal(classes="list-and-detail"):
            yield SnapshotList(compact=True, markup=False)
            with VerticalScroll(classes="detail"):
                yield Static(id="snapshot", markup=False)
        yield Static(id="serving", markup=False)
        yield Static(self.app.catalogue.text("screen.learning.snapshots.keys"), classes="quiet", markup=False)

    def on_mount(self) -> None:
        self.query_one("#serving").display = False
        self.refresh_list()

    def on_show(self) -> None:
        self.refresh_list()

    def refresh_list(self) -> None:
        """List what there is now; the mark tells which one answers."""
        current = self.app.session.snapshot().id
        listing = self.query_one(SnapshotList)
        before = listing.highlighted
        found = self.app.session.household.snapshots.list()
        listing.set_options([Option(self._row(each, current), id=each.id) for each in found])
        listing.highlighted = min(before or 0, len(found) - 1)

    def go_back(self) -> None:
        """Let the chosen snapshot answer from the next question on; can be undone."""
        option = self.query_one(SnapshotList).highlighted_option
        if option is None or option.id is None:
            return
        current, chosen = self.app.session.snapshot().id, option.id
        if chosen == current:
            self.post_message(Said(self.app.catalogue.text("screen.learning.snapshots.already", name=chosen)))
            return
        self._serve(chosen, lambda: self._serve(current, None))

    @work(exclusive=True, group="serve")
    async def _serve(self, snapshot_id: str, undo: Callable[[], object] | None) -> None:
        """Let it answer from the next question on, and say meanwhile what that waits for."""
        why = self.app.catalogue.text("screen.learning.snapshots.reason")
        telling = asyncio.create_task(self._tell_waiting(snapshot_id))
        try:
            target = await go_back(self.app.session, why, snapshot_id)
        except EnlaceError as error:
            self.post_message(Said(error=error))
            return
        finally:
            telling.cancel()
            for shown in self.query("#serving"):
                shown.display = False
        self.refresh_list()
        if undo is not None:
            sentence = self.app.catalogue.text("screen.learning.snapshots.rolled_back", name=target.id)
            self.post_message(Said(sentence, undo=undo))

    async def _tell_waiting(self, snapshot_id: str) -> None:
        """Show which snapshot is loaded, since when, and how many answers have to end before; until it is cancelled."""
        words, began, answers = self.app.catalogue, time.monotonic(), 0
        shown = self.query_one("#serving", Static)
        while True:
            passed = duration(time.monotonic() - began)
            sentence = words.text("screen.learning.snapshots.loading", name=snapshot_id, passed=passed)
            if answers:
                sentence += " " + words.count("command.engine.waits_for", answers)
            shown.update(f"◌ {sentence}")
            shown.display = True
            await asyncio.sleep(self.app.settings.status_seconds)
            answers = await answers_in_flight(self.app.session.engine)

    @on(OptionList.OptionHighlighted)
    def _chosen(self, event: OptionList.OptionHighlighted) -> None:
        if event.option_id is not None:
            snapshot = self.app.session.household.snapshots.get(event.option_id)
            self.query_one("#snapshot", Static).update(self._detail(snapshot))

    def _row(self, snapshot: Snapshot, current: str) -> Text:
        mark = "●" if snapshot.id == current else "✗" if snapshot.pruned_at else " "
        style = "bold" if snapshot.id == current else "dim" if snapshot.pruned_at else ""
        return Text(f"{mark} {snapshot.id:<6}{day_and_time(snapshot.created_at)}", style)

    def _detail(self, snapshot: Snapshot) -> Text:
        text = self.app.catalogue.text
        detail = Text.assemble((f"{snapshot.id}\n", "bold"))
        if snapshot.id == self.app.session.snapshot().id:
            detail.append(text("screen.learning.snapshots.current") + "\n")
            standing = self.app.session.household.probations.state()
            if standing is not None:
                detail.append(on_probation(self.app.catalogue, standing) + "\n")
        if snapshot.pruned_at is not None:
            detail.append(text("screen.learning.snapshots.given_up", when=day_and_time(snapshot.pruned_at)) + "\n")
        origin = text("screen.learning.snapshots.base") if snapshot.parent is None else snapshot.parent
        detail.append(f"{day_and_time(snapshot.created_at)} · {origin} · {clean(snapshot.base_name)}\n")
        for move in self.app.session.household.snapshots.history():
            if move.evidence and move.previous == snapshot.id:
                detail.append(f"{day_and_time(move.at)} · {gone(self.app.catalogue, move)}\n")
            elif move.snapshot == snapshot.id:
                detail.append(f"{day_and_time(move.at)} · {clean(move.who)} · {clean(move.why)}\n", "dim")
        detail.append(f"\n{text('screen.learning.snapshots.gate')}\n", "bold")
        if snapshot.gate:
            detail.append_text(
                checks_text(snapshot.gate, self.app.catalogue, self.query_one(".detail").size.width - _EDGES)
            )
        else:
            detail.append(text("screen.learning.snapshots.no_gate"), "dim")
        return detail
