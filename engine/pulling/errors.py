"""What can go wrong with getting a model, each with the facts that its sentence needs."""

from __future__ import annotations

from engine.errors import EngineError


class ModelUnknown(EngineError):
    """The catalogue has no model of this name. facts: name, known (names, comma-separated)."""

    code = "model_unknown"
    exit_code = 2


class NoModelFile(EngineError):
    """What is to be imported is not there. facts: path."""

    code = "no_model_file"


class ModelNameWrong(EngineError):
    """facts: name."""

    code = "model_name_wrong"
    exit_code = 2


class ModelExists(EngineError):
    """Another model has this name already. facts: name, path."""

    code = "model_exists"
    exit_code = 2


class AddressWrong(EngineError):
    """Nothing is fetched from there. facts: address, reason."""

    code = "address_wrong"
    exit_code = 2


class ChecksumWrong(EngineError):
    """What was given as a SHA-256 is none. facts: checksum."""

    code = "checksum_wrong"
    exit_code = 2


class HubUnreachable(EngineError):
    """The server does not answer, or breaks off again and again. facts: address, reason."""

    code = "hub_unreachable"


class HubRefused(EngineError):
    """The server answers that it does not give the file. facts: address, status."""

    code = "hub_refused"


class PullDamaged(EngineError):
    """What arrived is not the file that it should be. facts: name, reason."""

    code = "pull_damaged"


class NoRoomForModel(EngineError):
    """facts: path (the folder), needed_mb, available_mb."""

    code = "model_no_room"


class LinkImpossible(EngineError):
    """The file cannot be linked into the home. facts: path, reason."""

    code = "model_link_impossible"


class ModelUnwritable(EngineError):
    """A model's file cannot be written, or read to be copied. facts: path, reason."""

    code = "model_unwritable"
