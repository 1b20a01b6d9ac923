"""What can go wrong at the door: with who somebody is, with what they may do, and with what lets them in."""

from __future__ import annotations

from configs.errors import EnlaceError


class NobodyToAdminister(EnlaceError):
    """Only children and guests would be left in the house. facts: name (who was to be removed)."""

    code = "nobody_to_administer"
    exit_code = 2


class ColourUnknown(EnlaceError):
    """facts: colour, known."""

    code = "colour_unknown"
    exit_code = 2


class VoiceTooLong(EnlaceError):
    """facts: length, limit (characters)."""

    code = "voice_too_long"
    exit_code = 2


class SecretNeeded(EnlaceError):
    """A member's file is not opened before they have proven who they are. facts: name."""

    code = "pin_needed"


class PassphraseNeeded(SecretNeeded):
    """The same of a file that is encrypted. facts: name."""

    code = "passphrase_needed"


class PinWrong(EnlaceError):
    """facts: name, left (wrong ones before anybody has to wait)."""

    code = "pin_wrong"


class PassphraseWrong(PinWrong):
    """Of a file that is whole. facts: name, left."""

    code = "passphrase_wrong"


class WayBackWrong(PinWrong):
    """Not the code with which a PIN came. facts: name, left."""

    code = "way_back_wrong"


class SecretsUnlike(EnlaceError):
    """A new PIN or passphrase, asked for twice, was given in two ways. No facts."""

    code = "secrets_unlike"
    exit_code = 2


class TooManyTries(EnlaceError):
    """Nothing was looked at: somebody was wrong too often. facts: name, seconds (to wait)."""

    code = "too_many_tries"


class PinFormWrong(EnlaceError):
    """facts: least, most (digits)."""

    code = "pin_form_wrong"
    exit_code = 2


class PinBesidePassphrase(EnlaceError):
    """Their file is encrypted: its passphrase is what they prove themselves by. facts: name."""

    code = "pin_beside_passphrase"
    exit_code = 2


class PassphraseFormWrong(EnlaceError):
    """Or too long. facts: least, most (characters)."""

    code = "passphrase_form_wrong"
    exit_code = 2


class EncryptionMissing(EnlaceError):
    """SQLCipher is not installed. No facts."""

    code = "encryption_missing"


class MemberFileOpen(EnlaceError):
    """A member's file is to be written anew while somebody has it open. facts: name."""

    code = "member_file_open"


class NotEncrypted(EnlaceError):
    """There is no passphrase to take off. facts: name."""

    code = "not_encrypted"
    exit_code = 2


class TrainedInTheOpen(EnlaceError):
    """What is trained for a member alone would lie beside their encrypted file as it is. facts: name."""

    code = "trained_in_the_open"
    exit_code = 2
