"""Who belongs to the household."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, get_args

from configs.home import Home
from configs.sections.memory import MemorySettings
from configs.wordlists import words_of
from memory.clock import Clock
from memory.database import Database, Row
from memory.documents.shelf import Shelf
from memory.entrance_errors import ColourUnknown, NobodyToAdminister
from memory.errors import MemberExists, MemberFilesLeft, MemberNameWrong, MemberUnknown, OnlyAdmin, PrivateRunRunning
from memory.guard import lock_of
from memory.ids import new_id
from memory.removal import OF_THE_DOOR, REMOVAL
from memory.runs import Run
from memory.text import fold, storable

# Names of accounts and machines, by which nobody is called.
_ACCOUNTS = words_of("root admin administrator user ubuntu debian pi home casa familia family guest invitado")
Standing = Literal["trusted", "child", "guest"]
Colour = Literal["teal", "amber", "blue", "coral", "green", "violet"]
COLOURS: Final[tuple[Colour, ...]] = get_args(Colour)


@dataclass(frozen=True)
class Member:
    """A person with a file of their own. ``created_at``: seconds since 1970; ``language``: "es" or "en", empty for
    whatever the household speaks.

    ``private_training``: whether what was trained of their private lessons answers them. ``standing``: what a child or
    a guest shares waits for whoever administers before it is trained; neither of them ever administers. ``colour``:
    shown beside their name, in which it never is the only thing that tells them from others.
    """

    id: str
    name: str
    language: str
    created_at: float
    admin: bool
    private_training: bool = False
    standing: Standing = "trusted"
    colour: Colour = "teal"


class Members:
    """The members of one household. Names are unique, case and accents aside."""

    def __init__(
        self,
        family: Database,
        home: Home,
        settings: MemorySettings,
        clock: Clock,
        close: Callable[[str], None],
        running: Callable[[], Run | None],
        documents: Shelf,
    ) -> None:
        """``close`` is told whose file is about to be removed; ``running`` tells the training that runs.

        ``documents``: what members had read for everybody, which goes with them.
        """
        self._family = family
        self._home = home
        self._settings = settings
        self._clock = clock
        self._close = close
        self._running = running
        self._documents = documents
        for row in family.rows("SELECT id FROM members WHERE removed_at IS NOT NULL"):
            # Whoever removed them was told; the others shall not be kept out by a file that cannot be deleted.
            with contextlib.suppress(MemberFilesLeft):
                self._finish_removal(row["id"])

    def list(self) -> list[Member]:
        """Everybody, the first to come first."""
        rows = self._family.rows("SELECT * FROM members WHERE removed_at IS NULL ORDER BY created_at, id")
        return [_member(row) for row in rows]

    def get(self, name_or_id: str) -> Member:
        """The member with this id or name. Raises MemberUnknown."""
        row = self._family.row(
            "SELECT * FROM members WHERE removed_at IS NULL AND (id = ? OR name_key = ?)",
            (storable(name_or_id), fold(storable(name_or_id).strip())),
        )
        if row is None:
            raise MemberUnknown(name=name_or_id)
        return _member(row)

    def add(self, name: str, language: str, *, standing: Standing = "trusted", colour: str = "") -> Member:
        """A new member, with a language of their own unless that is empty; the first of a household is its admin.

        Without a ``colour`` they get the one that the fewest have. Raises MemberExists, MemberNameWrong and
        ColourUnknown.
        """
        clean = self._checked(name)
        with self._family.transaction():
            if self._family.row("SELECT 1 FROM members WHERE name_key = ?", (fold(clean),)):
                raise MemberExists(name=clean)
            first = self._family.row("SELECT 1 FROM members") is None
            now = self._clock()
            standing = "trusted" if first else standing
            shown = _colour(colour) if colour else self._rarest_colour()
            member = Member(new_id(now), clean, storable(language), now, first, standing=standing, colour=shown)
            self._family.run(
                "INSERT INTO members (id, name, name_key, language, admin, created_at, standing, colour)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (member.id, clean, fold(clean), member.language, first, now, standing, shown),
            )
        return member

    def default(self, *, name: str | None = None) -> Member:
        """The first member. An empty household gets one, called ``name`` or as the operating system's user.

        Nobody asked them for a language: they have none of their own.
        """
        with self._family.transaction():
            everybody = self.list()
            return everybody[0] if everybody else self.add(name or _user_name(), "")

    @staticmethod
    def usual_name() -> str:
        """What the first member is called where nobody says: as the operating system's user."""
        return _user_name()

    def rename(self, name_or_id: str, name: str) -> Member:
        """The member under a new name. Raises MemberUnknown, MemberExists, MemberNameWrong."""
        clean = self._checked(name)
        with self._family.transaction():
            member = self.get(name_or_id)
            taken = self._family.row("SELECT 1 FROM members WHERE name_key = ? AND id <> ?", (fold(clean), member.id))
            if taken:
                raise MemberExists(name=clean)
            values = (clean, fold(clean), member.id)
            self._family.run("UPDATE members SET name = ?, name_key = ? WHERE id = ?", values)
            return self.get(member.id)

    def set_language(self, name_or_id: str, language: str) -> Member:
        """The member with another language, or with none of their own. Raises MemberUnknown."""
        member = self.get(name_or_id)
        self._family.run("UPDATE members SET language = ? WHERE id = ?", (storable(language), member.id))
        return self.get(member.id)

    def set_colour(self, name_or_id: str, colour: str) -> Member:
        """The member with another colour beside their name. Raises MemberUnknown, ColourUnknown."""
        member = self.get(name_or_id)
        self._family.run("UPDATE members SET colour = ? WHERE id = ?", (_colour(colour), member.id))
        return self.get(member.id)

    def set_private_training(self, name_or_id: str, wanted: bool) -> Member:
        """The member with a private training, or without one. Raises MemberUnknown."""
        member = self.get(name_or_id)
        self._family.run("UPDATE members SET private_training = ? WHERE id = ?", (wanted, member.id))
        return self.get(member.id)

    def set_standing(self, name_or_id: str, standing: Standing) -> Member:
        """The member as a child, a guest, or neither; a child or a guest does not administer. Raises MemberUnknown.

        And OnlyAdmin where nobody would be left who approves what children and guests share.
        """
        with self._family.transaction():
            member = self.get(name_or_id)
            others = [each for each in self.list() if each.admin and each.id != member.id]
            if standing != "trusted" and member.admin and not others:
                raise OnlyAdmin(name=member.name)
            admin = member.admin and standing == "trusted"
            values = (standing, admin, member.id)
            self._family.run("UPDATE members SET standing = ?, admin = ? WHERE id = ?", values)
            return self.get(member.id)

    def is_named(self, member: Member) -> bool:
        """Whether a member's name is a person's: the first member of a new home may be called like an account."""
        return fold(member.name) not in _ACCOUNTS

    def heir(self, member_id: str) -> Member | None:
        """Who administers once this member is gone: the one who came first of the other adults.

        None where another administers already, or where nobody is left. Raises NobodyToAdminister where none but
        children and guests are.
        """
        others = [member for member in self.list() if member.id != member_id]
        if not others or any(member.admin for member in others):
            return None
        adults = [member for member in others if member.standing == "trusted"]
        if not adults:
            raise NobodyToAdminister(name=self.get(member_id).name)
        return adults[0]

    def remove(self, name_or_id: str) -> Member | None:
        """Remove a member, their file, and what they shared. Cannot be undone. Gives the ``heir`` who administers now.

        What was trained for them alone goes too; what the family's weights have already learned from their lessons
        stays in the snapshots until those are retrained. Raises MemberUnknown, PrivateRunRunning while a run trains
        their private lessons, NobodyToAdminister, and MemberFilesLeft where a file of theirs cannot be deleted: they
        are removed all the same, and the next start tries again.
        """
        with self._family.transaction():
            member = self.get(name_or_id)
            if (run := self._running()) is not None and run.member == member.id:
                raise PrivateRunRunning
            heir = self.heir(member.id)
            if heir is not None:
                self._family.run("UPDATE members SET admin = ? WHERE id = ?", (True, heir.id))
            # Marked before a file is deleted: should the process die in between, the next start finishes what was
            # begun. The name is free at once.
            mark = "UPDATE members SET removed_at = ?, name = '', name_key = id WHERE id = ?"
            self._family.run(mark, (self._clock(), member.id))
            for statement in REMOVAL:
                self._family.run(statement, (member.id,))
            self._documents.remove_of(member.id)
        self._close(member.id)
        self._finish_removal(member.id)
        return heir and self.get(heir.id)

    def empty(self, name_or_id: str) -> Member:
        """Remove a member's file, all that was made of it, and what they prove themselves by; what they shared stays.

        Raises MemberUnknown, PrivateRunRunning, MemberFilesLeft.
        """
        member = self.get(name_or_id)
        if (run := self._running()) is not None and run.member == member.id:
            raise PrivateRunRunning
        self._close(member.id)
        # Before what opens them is forgotten: killed in between, they are still asked for it.
        self._delete_files(member.id)
        with self._family.transaction():
            for statement in OF_THE_DOOR:
                self._family.run(statement, (member.id,))
            self._family.run("DELETE FROM runs WHERE member = ?", (member.id,))
            self._family.run("UPDATE members SET private_training = ? WHERE id = ?", (False, member.id))
        return self.get(member.id)

    def _finish_removal(self, member_id: str) -> None:
        """Delete a removed member's files, and then the mark. Raises MemberFilesLeft."""
        self._delete_files(member_id)
        self._family.run("DELETE FROM members WHERE id = ?", (member_id,))

    def _delete_files(self, member_id: str) -> None:
        """Raises MemberFilesLeft."""
        database = self._home.member_db(member_id)
        try:
            for suffix in ("-wal", "-shm", "-journal", ""):
                database.with_name(database.name + suffix).unlink(missing_ok=True)
            lock_of(database).unlink(missing_ok=True)
            with contextlib.suppress(FileNotFoundError):
                shutil.rmtree(self._home.of_member(member_id).root)
        except OSError as error:
            path = error.filename or database.parent
            raise MemberFilesLeft(path=str(path), reason=error.strerror or str(error)) from error

    def _rarest_colour(self) -> Colour:
        had = [member.colour for member in self.list()]
        return min(COLOURS, key=lambda colour: (had.count(colour), COLOURS.index(colour)))

    def _checked(self, name: str) -> str:
        clean = " ".join(storable(name).split())
        if not fold(clean) or len(clean) > self._settings.name_characters or not clean.isprintable():
            raise MemberNameWrong(limit=self._settings.name_characters)
        return clean


def _colour(name: str) -> Colour:
    """Raises ColourUnknown."""
    found = next((colour for colour in COLOURS if colour == name), None)
    if found is None:
        raise ColourUnknown(colour=name, known=", ".join(COLOURS))
    return found


def _user_name() -> str:
    # Imported here because it costs 5 ms of every command and is needed once in a household's life.
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError):
        # A container may run under a number without a name, and the variables that name the user may be unset.
        return "casa"


def _member(row: Row) -> Member:
    admin, private_training = bool(row["admin"]), bool(row["private_training"])
    return Member(
        row["id"],
        row["name"],
        row["language"],
        row["created_at"],
        admin,
        private_training,
        row["standing"],
        row["colour"],
    )
