"""What is remembered: whose words each fact rests on and since when it is so, to be corrected, shared and forgotten."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar, Final

from rich.text import Text
from textual import on
from textual.binding import Binding, BindingType

from app.fact_story import evidence_of, origin_of, said_by
from app.interface.entry_dialog import EntryDialog
from app.interface.memory.kept_facts import KeptFacts
from app.interface.memory.place import Place, Wanted
from app.interface.memory.searched_pane import SearchedPane
from app.interface.paged_list import PagedList, Rows
from app.interface.said import Said
from app.interface.times import day, day_and_time
from app.standing import own_facts_alone
from app.terminal_text import clean
from configs.errors import EnlaceError

if TYPE_CHECKING:
    from app.session import Session
    from memory.fact_list import FactList
    from memory.facts import Fact
    from memory.visibility import Visibility

# Also told without colours: a full circle is the household's, an empty one the member's own.
_MARKS: Final = {"shared": "●", "private": "○"}
_LABEL_CELLS: Final = 14


class FactLines:
    """A line each: who sees it, and what it says."""

    def __init__(self, found: FactList) -> None:
        self.found = found

    def __len__(self) -> int:
        return len(self.found)

    def page(self, start: int, stop: int, width: int) -> Sequence[Text]:
        return [Text("…", "dim") if fact is None else _line(fact) for fact in self.found.facts(start, stop)]


class FactListing(PagedList):
    """The rows, with the keys that work on the chosen one."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("e", "edit", show=False),
        Binding("s", "see('shared')", show=False),
        Binding("p", "see('private')", show=False),
        Binding("delete", "forget", show=False),
        Binding("r", "restore", show=False),
        Binding("o", "forgotten", show=False),
    ]

    def action_edit(self) -> None:
        self._pane.edit()

    def action_see(self, visibility: Visibility) -> None:
        self._pane.change_visibility(visibility)

    def action_forget(self) -> None:
        self._pane.forget()

    def action_restore(self) -> None:
        self._pane.restore()

    def action_forgotten(self) -> None:
        self._pane.turn()

    @property
    def _pane(self) -> FactsPane:
        return next(each for each in self.ancestors if isinstance(each, FactsPane))


class FactsPane(SearchedPane):
    """A list on the left, all about the chosen one on the right."""

    NAME = "facts"

    def __init__(self) -> None:
        super().__init__()
        self._kept = KeptFacts()
        self._forgotten = False

    def listing_widget(self) -> PagedList:
        return FactListing()

    def find(self, words: str) -> Rows:
        found = self._kept.of(self.app.session, forgotten=self._forgotten)
        return FactLines(found.holding(words) if words else found)

    def search_again(self) -> None:
        self._kept.forget()
        super().search_again()

    def detail(self, rows: Rows, place: int, width: int) -> Text:
        fact = _fact(rows, place)
        return Text() if fact is None else story(self.app.session, fact)

    # What can be done with the chosen one

    def edit(self) -> None:
        """Have it in other words, which are from now on those of whoever changes it."""
        fact = self._chosen()
        if fact is None:
            return

        def given(text: str | None) -> None:
            if text is None or text.strip() == fact.text:
                return
            facts = self.app.session.memory.facts
            now = self._do(lambda: facts.edit(fact.id, text=text), fact)
            if now is not None:
                self._tell_done("edited", lambda: facts.edit(now.id, text=fact.text), text=clean(now.text))

        text = self.app.catalogue.text
        dialog = EntryDialog(
            self.app.catalogue, self.words("edit"), value=clean(fact.text), hint=text("screen.memory.facts.edit_keys")
        )
        self.app.push_screen(dialog, given)

    def change_visibility(self, visibility: Visibility) -> None:
        """Let the household see it, or the member alone again."""
        fact = self._chosen()
        if fact is None or fact.visibility == visibility:
            return
        facts, before = self.app.session.memory.facts, fact.visibility
        now = self._do(lambda: facts.edit(fact.id, visibility=visibility), fact, shares=visibility == "shared")
        if now is not None:
            self._tell_done(f"now_{visibility}", lambda: facts.edit(now.id, visibility=before))

    def forget(self) -> None:
        """Have it come to mind no more; it can be brought back."""
        fact = self._chosen()
        if fact is None or fact.forgotten_at is not None:
            return
        facts = self.app.session.memory.facts
        if self._do(lambda: facts.forget(fact.id), fact) is not None:
            self._tell_done("forgot", lambda: facts.restore(fact.id))

    def restore(self) -> None:
        """Remember again what was forgotten."""
        fact = self._chosen()
        if fact is None or fact.forgotten_at is None:
            return
        facts = self.app.session.memory.facts
        if self._do(lambda: facts.restore(fact.id), fact) is not None:
            self._tell_done("restored", lambda: facts.forget(fact.id))

    def turn(self) -> None:
        """Show what was forgotten instead, or what is remembered again."""
        self._forgotten = not self._forgotten
        self.query_one(".keys").update(self.words("keys_forgotten" if self._forgotten else "keys"))  # type: ignore[attr-defined]
        self.search_again()

    @on(PagedList.Selected)
    def _read(self, event: PagedList.Selected) -> None:
        """Go to where it was said."""
        fact = self._chosen()
        evidence = None if fact is None else evidence_of(self.app.session, fact)
        if evidence is not None:
            self.post_message(Wanted(Place(evidence["conversation"], evidence["message"])))
        elif fact is not None:
            self.say(self.app.catalogue.text(f"memory.origin.{origin_of(self.app.session, fact)}"))

    def _chosen(self) -> Fact | None:
        place = self.listing.highlighted
        return None if place is None or self.rows is None else _fact(self.rows, place)

    def _do(self, what: Callable[[], Fact], fact: Fact | None = None, *, shares: bool = False) -> Fact | None:
        """What comes of it; None where it cannot be done, or not by this member with ``fact``, which is told."""
        try:
            own_facts_alone(self.app.session, fact, shares=shares)
            return what()
        except EnlaceError as error:
            self.post_message(Said(error=error))
            return None

    def _tell_done(self, key: str, back: Callable[[], Fact], **facts: str) -> None:
        def undo() -> None:
            self._do(back)
            self.search_again()

        self.search_again()
        self.post_message(Said(self.words(key, **facts), undo=undo))


def story(session: Session, fact: Fact) -> Text:
    """All about a fact: its words, where they are from, of whom, since when, and what was so before and after."""
    words = session.catalogue
    told = Text.assemble((clean(fact.text), "bold"), "\n")
    told.append(f"{_MARKS[fact.visibility]} {words.text(f'screen.memory.facts.seen_{fact.visibility}')}\n\n", "dim")
    evidence = evidence_of(session, fact)
    if fact.source != fact.id:
        told.append(f"«{clean(fact.quote)}»\n", "italic")
    if evidence is not None:
        told.append(words.text("screen.memory.facts.in_conversation", title=clean(evidence["title"])) + "\n", "dim")
    elif (origin := origin_of(session, fact)) in ("deleted", "gone"):
        told.append(words.text(f"memory.origin.{origin}") + "\n", "dim")
    if fact.source != fact.id:
        told.append("\n")
    rows = (
        ("who", f"{clean(said_by(session, fact))} · {day_and_time(fact.created_at)}"),
        ("about", clean(fact.subject) or words.text("command.memory.household")),
        ("since", _span(session, fact)),
        ("state", words.text(f"command.memory.gone.{fact.forgotten_as}") if fact.forgotten_as else ""),
        ("made_by", words.text(f"command.memory.made.{fact.made_by}")),
    )
    for name, value in rows:
        if value:
            label = words.text(f"screen.memory.facts.parts.{name}")
            told.append(f"{label:<{_LABEL_CELLS}}", "dim").append(f"{value}\n")
    others = [each for each in session.memory.facts.history(fact.id) if each.id != fact.id]
    if others:
        told.append("\n" + words.text("screen.memory.facts.history") + "\n", "bold")
        for each in others:
            told.append(f"{_span(session, each)}\n", "dim")
            told.append(f"  {clean(each.text)}\n")
    return told


def _span(session: Session, fact: Fact) -> str:
    """From which day to which it was so."""
    now = session.catalogue.text("command.memory.now")
    return f"{day(fact.valid_from)} – {now if fact.valid_to is None else day(fact.valid_to)}"


def _line(fact: Fact) -> Text:
    return Text(f"{_MARKS[fact.visibility]} {clean(fact.text)}".replace("\n", " "))


def _fact(rows: Rows, place: int) -> Fact | None:
    found = rows.found.facts(place, place + 1) if isinstance(rows, FactLines) else []
    return found[0] if found else None
