"""The lessons: find them, see both answers, share them, keep them private, withdraw them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from app.interface.fields import LineField
from app.interface.learning.forgetting import ForgettingPane
from app.interface.said import Said
from app.interface.times import day_and_time
from app.terminal_text import clean
from app.withdrawing import what_still_knows
from configs.errors import EnlaceError
from memory.text import fold

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from app.interface.app import EnlaceApp
    from memory.lessons import Lesson, Lessons

# The list's padding and its scroll bar.
_EDGES: Final = 5
_FEWEST_CELLS: Final = 20


class LessonList(OptionList):
    """The rows, with the keys that work on the chosen one."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("s", "change('share')", show=False),
        Binding("p", "change('unshare')", show=False),
        Binding("delete", "change('withdraw')", show=False),
    ]

    def action_change(self, how: str) -> None:
        pane = next(each for each in self.ancestors if isinstance(each, LessonsPane))
        pane.change(how)


class LessonsPane(ForgettingPane):
    """A list on the left, the chosen lesson on the right."""

    app: EnlaceApp

    def compose(self) -> ComposeResult:
        text = self.app.catalogue.text
        yield LineField(placeholder=text("screen.learning.lessons.search"), compact=True, id="lesson-search")
        with Horizontal(classes="list-and-detail"):
            yield LessonList(compact=True, markup=False, id="lesson-list")
            with VerticalScroll(classes="detail"):
                yield Static(id="lesson", markup=False)
        yield Static(text("screen.learning.lessons.keys"), classes="quiet", markup=False)

    def on_mount(self) -> None:
        self.call_after_refresh(self.refresh_list)

    def refresh_list(self) -> None:
        """List the lessons that hold the words searched for."""
        wanted = fold(self.query_one(Input).value).split()
        listing = self.query_one(LessonList)
        before = listing.highlighted
        found = [each for each in self._lessons().list() if all(word in _words(each) for word in wanted)]
        listing.set_options([Option(self._row(lesson), id=lesson.id) for lesson in found])
        if found:
            listing.highlighted = min(before or 0, len(found) - 1)
        else:
            self.query_one("#lesson", Static).update(self.app.catalogue.text("screen.learning.lessons.empty"))

    def change(self, how: str) -> None:
        """Share, unshare or withdraw the chosen lesson; each can be undone."""
        option = self.query_one(LessonList).highlighted_option
        if option is None or option.id is None:
            return
        lessons, lesson = self._lessons(), self._lessons().get(option.id)
        steps: dict[str, tuple[Callable[[str], object], Callable[[str], object], str]] = {
            "share": (lessons.share, lessons.unshare, "shared_now"),
            "unshare": (lessons.unshare, lessons.share, "private_now"),
            "withdraw": (lessons.withdraw, lessons.restore, "withdrawn_now"),
        }
        forth, back, sentence = steps[how]
        if lesson.member != self.app.session.member.id:
            self.post_message(Said(self.app.catalogue.text("screen.learning.lessons.not_yours")))
            return
        try:
            forth(lesson.id)
        except EnlaceError as error:
            self.post_message(Said(error=error))
            return

        if how != "share":
            self.forget(lesson.id)

        def undo() -> None:
            back(lesson.id)
            if how == "share":
                self.forget(lesson.id)
            self.refresh_list()

        self.refresh_list()
        if how == "share" and lesson.id in self._waiting():
            sentence = "waiting_now"
        said = [self.app.catalogue.text(f"screen.learning.lessons.{sentence}")]
        if how == "withdraw":
            said += what_still_knows(self.app.session, lesson.id)
        self.post_message(Said(" ".join(said), undo=undo))

    @on(Input.Changed)
    def _searched(self) -> None:
        self.refresh_list()

    @on(Input.Submitted)
    def _entered(self) -> None:
        self.query_one(LessonList).focus()

    @on(OptionList.OptionHighlighted)
    def _chosen(self, event: OptionList.OptionHighlighted) -> None:
        if event.option_id is not None:
            self.query_one("#lesson", Static).update(self._pair(self._lessons().get(event.option_id)))

    def _lessons(self) -> Lessons:
        return self.app.session.memory.lessons

    def _waiting(self) -> Collection[str]:
        return self.app.session.household.approvals.waiting_ids()

    def _row(self, lesson: Lesson) -> Text:
        withdrawn = lesson.status == "withdrawn"
        mark = "✕" if withdrawn else ("●" if lesson.visibility == "shared" else "○")
        question = clean(lesson.question).replace("\n", " ")
        row = Text(f"{mark} {question}", "strike dim" if withdrawn else "")
        row.truncate(max(_FEWEST_CELLS, self.query_one(LessonList).size.width - _EDGES), overflow="ellipsis")
        return row

    def _pair(self, lesson: Lesson) -> Text:
        text = self.app.catalogue.text
        visibility: str = "withdrawn" if lesson.status == "withdrawn" else lesson.visibility
        if lesson.id in self._waiting():
            visibility = "waiting"
        facts = text(
            "screen.learning.lessons.facts",
            source=text(f"screen.learning.sources.{lesson.source}"),
            visibility=text(f"screen.learning.lessons.{visibility}"),
            date=day_and_time(lesson.created_at),
            snapshot=f" · {clean(lesson.snapshot)}" if lesson.snapshot else "",
        )
        pair = Text()
        parts = (
            ("question", lesson.question, ""),
            ("chosen", lesson.chosen, "✓ "),
            ("rejected", lesson.rejected, "✗ "),
        )
        for key, said, mark in parts:
            pair.append(text(f"screen.learning.lessons.{key}") + "\n", "bold")
            pair.append(mark + (clean(said) or text("screen.learning.lessons.nothing_rejected")) + "\n\n")
        pair.append(facts, "dim")
        return pair


def _words(lesson: Lesson) -> str:
    return fold(" ".join((lesson.question, lesson.chosen, lesson.rejected)))
