"""What the command and the interface open alike: home, settings, memory, engine, and who is talking.

Everything is opened when it is first needed, so that ``enlace members list`` needs no model and a command that fails
early has touched nothing.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Mapping
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from app.catalogue import Catalogue, choose_language
from configs.errors import EnlaceError
from configs.home import Home

if TYPE_CHECKING:
    from app.assistant.assistant import Assistant
    from configs.settings import Settings
    from engine.interface import Engine
    from memory.entrance import Secret
    from memory.household import Household, MemberMemory
    from memory.members import Member
    from memory.snapshots import Snapshot

ENGINE_START = "engine start"  # the name of the thread that starts an engine early


class Session:
    """One run of a command or of the interface. Use as a context manager, or call ``close``.

    Whoever is named is ``whoever``; ``member`` is the same once they have proven it. All that reads a member's file, or
    acts in a member's name, asks for ``member``.
    """

    def __init__(
        self,
        environ: Mapping[str, str],
        *,
        member: str | None = None,
        language: str | None = None,
        options: Mapping[str, Any] | None = None,
        ask: Callable[[Session, Member, Secret], str] | None = None,
    ) -> None:
        """``ask``: for the PIN of a member who has one; without it, ``enter`` has to be called first."""
        self.environ = environ
        self.home = Home.find(environ)
        self._member_name = member or environ.get("ENLACE_MEMBER") or None
        self._language = language
        self._options = options or {}
        self._ask = ask

    @cached_property
    def settings(self) -> Settings:
        """Raises SettingsOutOfReach, SettingsUnreadable and SettingWrong."""
        from configs.settings import load_settings

        return load_settings(self.home, self.environ, self._options)

    def settings_at_hand(self) -> Settings:
        """The settings, or the defaults where what somebody set is wrong: an engine that runs can still be stopped."""
        from configs.settings import default_settings

        return default_settings() if self.settings_problem() else self.settings

    def settings_problem(self) -> EnlaceError | None:
        """What is wrong with the settings; None where nothing is."""
        try:
            _ = self.settings
        except EnlaceError as error:
            return error
        return None

    @cached_property
    def household(self) -> Household:
        """Raises HomeNotWritable and what memory raises about a database."""
        from memory.household import Household

        return Household.open(self.home, self.settings.memory)

    @property
    def unnamed(self) -> bool:
        """Whether neither the option nor ENLACE_MEMBER says who is talking."""
        return not self._member_name

    @cached_property
    def whoever(self) -> Member:
        """Whom the option or ENLACE_MEMBER names, else the first of the household. Raises MemberUnknown.

        Nothing says that it is them who sit here.
        """
        if self._member_name:
            return self.household.members.get(self._member_name)
        return self.household.members.default()

    @cached_property
    def member(self) -> Member:
        """The same, who have proven it if they have a PIN. Raises SecretNeeded, PinWrong, TooManyTries."""
        doors, named = self.household.doors, self.whoever
        secret = doors.waits_for(named.id)
        if secret is not None and self._ask is not None:
            self.enter(self._ask(self, named, secret))
        doors.check(named)
        return named

    @property
    def inside(self) -> bool:
        """Whether they have proven it already, or nothing has to be proven."""
        return self.household.doors.waits_for(self.whoever.id) is None

    def enter(self, secret: str) -> None:
        """Have ``whoever`` prove that it is them. Raises PinWrong, TooManyTries."""
        self.household.doors.enter(self.whoever, secret)

    @property
    def memory(self) -> MemberMemory:
        """What the member said and may see."""
        return self.household.member(self.member.id)

    @property
    def language(self) -> str:
        """The language to speak: option, the member's own, the household's."""
        return choose_language(
            option=self._language, member=self.whoever.language, settings=self.household_language, environ=self.environ
        )

    @property
    def household_language(self) -> str:
        """What is spoken with whoever has no language of their own: settings, system; Spanish where nothing says."""
        return choose_language(settings=self.settings.assistant.language, environ=self.environ)

    @cached_property
    def catalogue(self) -> Catalogue:
        """The texts in that language; also while home or settings are what is wrong."""
        return Catalogue(self.language)

    def fallback_catalogue(self) -> Catalogue:
        """The texts for the first picture of the interface, which waits for nothing to be opened or read.

        In the language of the member where that is known by now, else in the household's.
        """
        if "catalogue" in self.__dict__ or "whoever" in self.__dict__:
            return self.catalogue
        return Catalogue(choose_language(option=self._language, settings=self._wished(), environ=self.environ))

    def catalogue_unopened(self) -> Catalogue:
        """The same, and in the member's own language also where nobody has looked who that is: what one command says
        before and after it has opened the household is in one language.
        """
        if "catalogue" in self.__dict__ or "whoever" in self.__dict__:
            return self.catalogue
        from memory.spoken import own_language

        own = own_language(self.home, self._member_name)
        wish = self._wished()
        return Catalogue(choose_language(option=self._language, member=own, settings=wish, environ=self.environ))

    def _wished(self) -> str | None:
        """The household's language as it is written down, also where another setting is wrong or nothing can be read.

        Most homes have no file of settings, and the first picture of the interface waits for no YAML.
        """
        if wish := self.environ.get("ENLACE_ASSISTANT__LANGUAGE"):
            return wish
        # What cannot be looked at is told by whoever needs it: these words are for telling that too.
        with contextlib.suppress(EnlaceError, OSError):
            if not self.home.config_file.is_file():
                return None
            from configs.layers import read_layer

            section = read_layer(self.home.config_file).get("assistant")
            wish = section.get("language") if isinstance(section, dict) else None
            return wish if isinstance(wish, str) else None
        return None

    def catalogue_at_hand(self) -> Catalogue:
        """The texts for what needs no memory, also where memory is shut.

        The engine can be looked at and stopped on a full disk, or one that cannot be written to.
        """
        try:
            return self.catalogue
        except EnlaceError:
            return self.catalogue_unopened()

    @cached_property
    def engine(self) -> Engine:
        """Whatever answers, as the settings choose it; nothing is started or asked before the first question.

        Raises ServerAddressWrong and ServerKeyMissing.
        """
        from engine.choice import open_engine

        return open_engine(self.home, self.settings.engine, lambda: self.snapshot().digest, self.environ)

    def snapshot(self) -> Snapshot:
        """The snapshot that answers now; a new household gets the base model's. Raises ModelMissing."""
        from memory.errors import NoSnapshot

        snapshots = self.household.snapshots
        try:
            return snapshots.current()
        except NoSnapshot:
            from engine.catalogue import model_path

            name = self.settings.engine.model
            return snapshots.ensure_base(name, snapshots.file_digest(model_path(self.home, name)))

    def start_engine_early(self) -> threading.Thread | None:
        """Begin to start the engine, where none runs and it is the one to answer; join the thread before asking.

        What keeps it from starting is told by the first question, which tries again.
        """
        from engine.starting import answers, start_engine

        if self.settings.engine.server.kind != "own" or answers(self.home):
            return None
        manifest = self.snapshot().digest

        def start() -> None:
            with contextlib.suppress(EnlaceError):
                start_engine(self.home, self.settings.engine, manifest)

        thread = threading.Thread(target=start, name=ENGINE_START, daemon=True)
        thread.start()
        return thread

    def assistant(self) -> Assistant:
        """The assistant that talks with this member. Raises ModelMissing where there is no snapshot yet."""
        from app.assistant.assistant import Assistant
        from tools.registry import default_registry

        self.snapshot()
        return Assistant(self.household, self.member, self.engine, default_registry(), self.settings, self.language)

    def as_member(self, name_or_id: str) -> Self:
        """The same home, already open, with somebody else talking, who has to prove it too. Raises MemberUnknown."""
        other = type(self)(self.environ, member=name_or_id, options=self._options, ask=self._ask)
        for opened in ("settings", "household", "engine"):
            if opened in self.__dict__:
                other.__dict__[opened] = self.__dict__[opened]
        self.household.members.get(name_or_id)
        return other

    def close(self) -> None:
        """Close what was opened; the engine stays up."""
        if "household" in self.__dict__:
            self.household.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
