"""Whose file may be opened in this process: nobody's who has a PIN or a passphrase before they have given it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from configs.sections.entrance import EntranceSettings
from memory.cipher import module
from memory.clock import Clock
from memory.database import Database
from memory.entrance import Pins, Secret, Tries
from memory.entrance_errors import PassphraseNeeded, PassphraseWrong, PinBesidePassphrase, SecretNeeded
from memory.members import Member
from memory.seals import Seal, Seals


class Doors:
    """Of one household, as one process has them.

    ``file_of``: where a member's file is. ``unattended``: nobody sits before it and nothing that it opens is shown to
    anybody, as with the trainer at night: then no PIN is asked for. An encrypted file opens to nobody without its
    passphrase.
    """

    def __init__(
        self,
        family: Database,
        settings: EntranceSettings,
        clock: Clock,
        file_of: Callable[[str], Path],
        *,
        unattended: bool,
    ) -> None:
        self._tries = Tries(family, settings, clock)
        self._pins = Pins(family, settings, clock, self._tries)
        self.seals = Seals(family, settings, clock, file_of)
        self._unattended = unattended
        self._entered: set[str] = set()
        self._keys: dict[str, tuple[Seal, str]] = {}

    def secret_of(self, member_id: str) -> Secret | None:
        """What this member proves themselves by; None where whoever is in the house may be them."""
        if self.seals.of(member_id) is not None:
            return "passphrase"
        return "pin" if self._pins.has(member_id) else None

    def waits_for(self, member_id: str) -> Secret | None:
        """What has to be given yet before their file is opened here."""
        seal = self.seals.of(member_id)
        if seal is not None:
            # Elsewhere it may have got another passphrase since.
            held, _ = self._keys.get(member_id, (None, ""))
            return None if held == seal else "passphrase"
        return None if self._unattended or member_id in self._entered else self.secret_of(member_id)

    def check(self, member: Member) -> None:
        """Return where their file may be opened, which it then may until ``leave``. Raises SecretNeeded."""
        waits = self.waits_for(member.id)
        if waits is not None:
            raise (PassphraseNeeded if waits == "passphrase" else SecretNeeded)(name=member.name)
        # A PIN that they set in another window is none that this one asks for.
        self._entered.add(member.id)

    def key(self, member: Member) -> str:
        """What opens their file, empty where it is not encrypted. Raises PassphraseNeeded."""
        seal = self.seals.of(member.id)
        if seal is None:
            return ""
        held, key = self._keys.get(member.id, (None, ""))
        if held != seal:
            raise PassphraseNeeded(name=member.name)
        return key

    def bring(self, member: Member, key: str) -> None:
        """Have what opens their file from another process of theirs, in which they came in."""
        seal = self.seals.of(member.id)
        if seal is not None:
            self._keys[member.id] = seal, key

    def enter(self, member: Member, secret: str) -> None:
        """Let their file be opened here from now on, until ``leave``.

        Raises PinWrong, PassphraseWrong, TooManyTries, EncryptionMissing.
        """
        seal = self.seals.of(member.id)
        if seal is not None:
            # Where nothing could open the file, no try is counted.
            module()
            self._tries.begin(member.id, member.name)
            key = seal.key(secret)
            if key is None:
                raise PassphraseWrong(name=member.name, left=self._tries.left(member.id))
            self._tries.succeeded(member.id)
            self._keys[member.id] = seal, key
        elif self._pins.has(member.id):
            self._pins.check(member.id, member.name, secret)
        self._entered.add(member.id)

    def leave(self, member_id: str) -> None:
        """Ask them again the next time."""
        self._entered.discard(member_id)
        self._keys.pop(member_id, None)

    def sealed(self, member: Member, key: str) -> None:
        """Their file is encrypted from now on, with this key, or no longer; the PIN is what is asked for no more."""
        self.seals.clear(member.id)
        self._pins.remove(member.id)
        seal = self.seals.of(member.id)
        self._keys.pop(member.id, None)
        if seal is not None:
            self._keys[member.id] = seal, key
        self._entered.add(member.id)

    def check_form(self, pin: str) -> str:
        """A PIN as it is kept. Raises PinFormWrong."""
        return self._pins.check_form(pin)

    def set_pin(self, member: Member, pin: str) -> str:
        """Have this PIN asked for from now on; the code that sets another.

        Raises SecretNeeded, PinFormWrong, and PinBesidePassphrase where their file is encrypted.
        """
        self.check(member)
        if self.seals.of(member.id) is not None:
            raise PinBesidePassphrase(name=member.name)
        code = self._pins.set(member.id, pin)
        self._entered.add(member.id)
        return code

    def remove_pin(self, member: Member) -> None:
        """Have none asked for any more. Raises SecretNeeded."""
        self.check(member)
        self._pins.remove(member.id)

    def recover(self, member: Member, code: str, pin: str) -> str:
        """A new PIN for whoever has the code of the old one; the new one's code.

        Raises WayBackWrong, TooManyTries, PinFormWrong.
        """
        self.check_form(pin)
        self._pins.check_way_back(member.id, member.name, code)
        self._entered.add(member.id)
        return self.set_pin(member, pin)
