"""What whoever administers decides: what children and guests have shared, and what members answer in different ways."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar, Final

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from app.deciding import Contradiction, contradictions
from app.interface.learning.forgetting import ForgettingPane
from app.interface.said import Said
from app.interface.times import day_and_time
from app.terminal_text import clean
from app.withdrawing import what_still_knows
from configs.errors import EnlaceError

if TYPE_CHECKING:
    from app.interface.app import EnlaceApp
    from memory.lessons import Lesson

# The list's padding and its scroll bar.
_EDGES: Final = 5
_FEWEST_CELLS: Final = 20
_MOST_SIDES: Final = 9  # keys from 1 on


class DecideList(OptionList):
    """The rows, with the keys that decide the chosen one."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "decide('approve')", show=False),
        Binding("delete", "decide('refuse')", show=False),
        *(Binding(str(place + 1), f"side({place})", show=False) for place in range(_MOST_SIDES)),
    ]

    def action_decide(self, how: str) -> None:
        self._pane.approve() if how == "approve" else self._pane.refuse()

    def action_side(self, place: int) -> None:
        self._pane.choose(place)

    @property
    def _pane(self) -> DecidePane:
        return next(each for each in self.ancestors if isinstance(each, DecidePane))


class DecidePane(ForgettingPane):
    """A list on the left; on the right what is asked, and the keys that answer it."""

    app: EnlaceApp

    def __init__(self) -> None:
        super().__init__()
        self._contradictions: list[Contradiction] = []
        self._listed: list[Contradiction | Lesson] = []

    def compose(self) -> ComposeResult:
        with Horizontal(classes="list-and-detail"):
            yield DecideList(compact=True, markup=False, id="decide-list")
            with VerticalScroll(classes="detail"):
                yield Static(id="decide", markup=False)
        yield Static(id="decide-keys", classes="quiet", markup=False)

    def on_mount(self) -> None:
        self.refresh_list()

    def on_show(self) -> None:
        self.refresh_list()
        self._ask()

    @work(exclusive=True, group="contradictions")
    async def _ask(self) -> None:
        """Find out what contradicts, which takes a process of the trainer a moment."""
        try:
            self._contradictions = await asyncio.to_thread(contradictions, self.app.session)
        except EnlaceError as error:
            self.post_message(Said(error=error))
            return
        if self.query("#decide-list"):
            self.refresh_list()

    def refresh_list(self) -> None:
        """List what is to be decided: what contradicts first, which is the rarer and trained by nobody."""
        listing = self.query_one(DecideList)
        before, chosen = listing.highlighted or 0, self._chosen()
        self._listed = [*self._contradictions, *self.app.session.household.approvals.waiting()]
        listing.set_options([Option(self._row(each)) for each in self._listed])
        if self._listed:
            # Whoever looks at one must not find another under their key when the list grows.
            same = [place for place, each in enumerate(self._listed) if each == chosen]
            listing.highlighted = same[0] if same else min(before, len(self._listed) - 1)
        else:
            self._detail.update(self.app.catalogue.text("screen.learning.decide.nothing"))
            self.query_one("#decide-keys", Static).update("")

    def approve(self) -> None:
        """Let what waits be trained, and answer everybody."""
        lesson = self._waiting()
        if lesson is None:
            return
        approvals = self.app.session.household.approvals
        self._done(
            lambda: approvals.approve(lesson.id, self.app.session.member.name),
            lambda: approvals.take_back(lesson.id),
            "approved",
        )

    def refuse(self) -> None:
        """Take back what waits, for whose it is as well."""
        lesson = self._waiting()
        if lesson is None:
            return
        lessons = self.app.session.memory.lessons
        self._done(lambda: lessons.withdraw(lesson.id), lambda: lessons.restore(lesson.id), "refused")

    def choose(self, place: int) -> None:
        """One side of a contradiction is right: what the others have said is taken back."""
        found = self._chosen()
        if not isinstance(found, Contradiction) or place >= len(found.sides) or not self._may_decide():
            return
        household, lessons, who = (
            self.app.session.household,
            self.app.session.memory.lessons,
            self.app.session.member.name,
        )
        gone = found.against(place)

        def forth() -> None:
            for lesson in gone:
                lessons.withdraw(lesson.id)
            self._contradictions.remove(found)

        def back() -> None:
            for lesson in gone:
                lessons.restore(lesson.id)
            # A child's was approved before, or it would contradict nobody.
            for each in household.approvals.waiting():
                if each.id in {lesson.id for lesson in gone}:
                    household.approvals.approve(each.id, who)
            self._contradictions.insert(0, found)

        self._done(forth, back, "chosen", gone, said=found.sides[place][-1].chosen)

    def _done(
        self,
        forth: Callable[[], object],
        back: Callable[[], object],
        sentence: str,
        gone: Sequence[Lesson] = (),
        **facts: str,
    ) -> None:
        try:
            forth()
        except EnlaceError as error:
            self.post_message(Said(error=error))
            return

        def undo() -> None:
            back()
            self.refresh_list()

        self.refresh_list()
        told = [
            self.app.catalogue.text(f"screen.learning.decide.{sentence}", **{k: clean(v) for k, v in facts.items()})
        ]
        for lesson in gone:
            told += what_still_knows(self.app.session, lesson.id)
            self.forget(lesson.id)
        self.post_message(Said(" ".join(dict.fromkeys(told)), undo=undo))

    @on(OptionList.OptionHighlighted)
    def _show(self) -> None:
        found = self._chosen()
        if found is not None:
            shown = self._asked_of(found) if isinstance(found, Contradiction) else self._asked_for(found)
            self._detail.update(shown)
            self.query_one("#decide-keys", Static).update(self._keys())

    def _asked_for(self, lesson: Lesson) -> Text:
        """A lesson that waits: whose, what it would change, and what it says."""
        text = self.app.catalogue.text
        name = self._called(lesson.member)
        shown = Text.assemble((text("screen.learning.decide.waits", name=name) + "\n", "bold"))
        shown.append(text("screen.learning.decide.until_then", name=name) + "\n\n", "dim")
        for key, said, mark in (
            ("question", lesson.question, ""),
            ("chosen", lesson.chosen, "✓ "),
            ("rejected", lesson.rejected, "✗ "),
        ):
            if said:
                shown.append(text(f"screen.learning.lessons.{key}") + "\n", "bold")
                shown.append(f"{mark}{clean(said)}\n\n")
        return shown.append(day_and_time(lesson.created_at), "dim")

    def _asked_of(self, found: Contradiction) -> Text:
        """A contradiction: the question, and who says what under the key that has it stay."""
        text = self.app.catalogue.text
        shown = Text.assemble((text("screen.learning.decide.differ") + "\n\n", "bold"))
        shown.append(text("screen.learning.lessons.question") + "\n", "bold")
        shown.append(clean(found.question) + "\n\n")
        for place, side in enumerate(found.sides[:_MOST_SIDES]):
            names = ", ".join(dict.fromkeys(self._called(lesson.member) for lesson in side))
            shown.append(f" {place + 1} ", "reverse bold")
            shown.append(f" {names} · {day_and_time(side[-1].created_at)}", "dim")
            if place == found.trained:
                shown.append(f" · {text('screen.learning.decide.trained')}", "bold")
            shown.append(f"\n    {clean(side[-1].chosen)}\n\n")
        if found.trained is None:
            shown.append(text("screen.learning.decide.none_trained"), "dim")
        return shown

    def _row(self, found: Contradiction | Lesson) -> Text:
        if isinstance(found, Contradiction):
            row = Text(f"≠ {clean(found.question)}".replace("\n", " "))
        else:
            row = Text(f"◌ {self._called(found.member)}: {clean(found.question)}".replace("\n", " "))
        row.truncate(max(_FEWEST_CELLS, self.query_one(DecideList).size.width - _EDGES), overflow="ellipsis")
        return row

    def _keys(self) -> str:
        """The keys that decide the chosen one, or who has them."""
        text = self.app.catalogue.text
        if self.app.session.member.admin:
            of_sides = isinstance(self._chosen(), Contradiction)
            return text("screen.learning.decide.keys_of_sides" if of_sides else "screen.learning.decide.keys")
        admins = [member.name for member in self.app.session.household.members.list() if member.admin]
        return text("screen.learning.decide.who", names=clean(", ".join(admins)))

    def _chosen(self) -> Contradiction | Lesson | None:
        place = self.query_one(DecideList).highlighted
        return None if place is None or place >= len(self._listed) else self._listed[place]

    def _waiting(self) -> Lesson | None:
        """The chosen one where it is a lesson that waits, and the member may decide."""
        found = self._chosen()
        return None if found is None or isinstance(found, Contradiction) or not self._may_decide() else found

    def _may_decide(self) -> bool:
        may = self.app.session.member.admin
        if not may:
            self.post_message(Said(self._keys()))
        return may

    def _called(self, member_id: str) -> str:
        names = {member.id: member.name for member in self.app.session.household.members.list()}
        return clean(names.get(member_id, "—"))

    @property
    def _detail(self) -> Static:
        return self.query_one("#decide", Static)
