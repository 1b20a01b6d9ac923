"""What can go wrong with a server of the family's. Every one has the facts ``kind`` and ``url``, unless it says so."""

from __future__ import annotations

from engine.errors import EngineError, PromptTooLong


class ServerError(EngineError):
    """The root of these errors. facts: kind, url."""

    code = "server_error"


class ServerAddressWrong(ServerError):
    """The setting is no address. facts: url, reason."""

    code = "server_address_wrong"
    exit_code = 2


class ServerOutside(ServerError):
    """The address is a public one, and the settings keep what is said in the house. facts: kind, url, address."""

    code = "server_outside"


class ServerKeyMissing(ServerError):
    """The settings name a key that is not there. facts: place (a variable or a file)."""

    code = "server_key_missing"
    exit_code = 2


class ServerUnreachable(ServerError):
    """facts: kind, url, reason."""

    code = "server_unreachable"


class ServerTooSlow(ServerError):
    """facts: kind, url, seconds."""

    code = "server_too_slow"


class ServerBrokeOff(ServerError):
    """The answer, or the connection, ended before its end."""

    code = "server_broke_off"


class ServerGarbled(ServerError):
    """It says something that such a server does not say. facts: kind, url, reason."""

    code = "server_garbled"


class ServerMoved(ServerError):
    """It sends us elsewhere; nothing is sent there. facts: kind, url, to."""

    code = "server_moved"


class ServerKeyRefused(ServerError):
    """facts: kind, url, status."""

    code = "server_key_refused"


class ServerBusy(ServerError):
    """It has too much to do. facts: kind, url, wait_s (as it says; 0 where it does not)."""

    code = "server_busy"


class ServerFailed(ServerError):
    """facts: kind, url, status, reason."""

    code = "server_failed"


class ServerRefused(ServerError):
    """It does not take this request. facts: kind, url, status, reason."""

    code = "server_refused"


class ServerModelMissing(ServerError):
    """facts: kind, url, model (as asked for), served (names, or empty)."""

    code = "server_model_missing"


class ServerModelOther(ServerError):
    """What was learned belongs to another model than the one it serves. facts: kind, url, model, base, snapshot."""

    code = "server_model_other"


class ServerAdapterMissing(ServerError):
    """llama-server has only the adapters of its start. facts: kind, url, snapshot, path."""

    code = "server_adapter_missing"


class ServerTakesNoAdapters(ServerError):
    """facts: kind, url, snapshot, reason."""

    code = "server_takes_no_adapters"


class ServerAdapterRefused(ServerError):
    """facts: kind, url, snapshot, reason."""

    code = "server_adapter_refused"


class ServerAdapterIdle(ServerError):
    """The answers are the same with and without what was learned. facts: kind, url, snapshot."""

    code = "server_adapter_idle"


class ServerNotOurs(ServerError):
    """It is neither started nor stopped from here."""

    code = "server_not_ours"


class ServerOffersNot(ServerError):
    """facts: kind, url, what."""

    code = "server_offers_not"


class ServerPromptTooLong(PromptTooLong):
    """A server that does not say how long the prompt is. facts: context_size."""

    code = "server_prompt_too_long"


class ExportInTheWay(EngineError):
    """facts: path."""

    code = "export_in_the_way"
    exit_code = 2


class ExportFailed(EngineError):
    """facts: path, reason."""

    code = "export_failed"
