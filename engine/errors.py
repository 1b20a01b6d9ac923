"""What can go wrong with the engine, each with the facts that its sentence needs."""

from __future__ import annotations

import logging
from typing import ClassVar

from configs.errors import EnlaceError
from engine.logs import note, raised

log = logging.getLogger("enlace.engine")


class EngineError(EnlaceError):
    """The root of this room's errors. ``status`` is the HTTP status that carries it."""

    code = "engine_error"
    status: ClassVar[int] = 500


class ModelMissing(EngineError):
    """facts: name, path (where it was looked for)."""

    code = "model_missing"
    status = 404


class ModelBroken(EngineError):
    """facts: path, reason."""

    code = "model_broken"


class ModelTooBig(EngineError):
    """facts: path, needed_mb, available_mb."""

    code = "model_too_big"
    status = 507


class ModelAboveLimit(EngineError):
    """The model and its cache alone take more than the engine may hold. facts: path, needed_mb, limit_mb."""

    code = "model_above_limit"
    status = 507


class ModelReplaced(EngineError):
    """The model's file is not the one that the snapshot was made on. facts: path, snapshot."""

    code = "model_replaced"


class SnapshotApart(EngineError):
    """It rests on other weights than those that are loaded, so none can be asked beside the other. facts: snapshot,
    served (names).
    """

    code = "snapshot_apart"
    status = 409


class TemplateBroken(EngineError):
    """The model's chat template cannot render this conversation. facts: reason."""

    code = "template_broken"


class PromptTooLong(EngineError):
    """facts: prompt_tokens, context_size."""

    code = "prompt_too_long"
    status = 400


class RequestWrong(EngineError):
    """facts: field, reason."""

    code = "request_wrong"
    exit_code = 2
    status = 400


class NoSuchRoute(EngineError):
    """facts: method, path."""

    code = "no_such_route"
    status = 404


class EngineBusy(EngineError):
    """The queue is full. facts: waiting."""

    code = "engine_busy"
    status = 503


class EngineStopping(EngineError):
    """The engine was told to end while this answer was waiting or being written. No facts."""

    code = "engine_stopping"
    status = 503


class EngineDied(EngineError):
    """The engine went away in the middle of an answer. No facts."""

    code = "engine_died"


class EngineStartFailed(EngineError):
    """facts: reason, log (path)."""

    code = "engine_start_failed"


class EngineSilent(EngineError):
    """An engine runs and does not answer. facts: pid."""

    code = "engine_silent"


class EngineNotEnded(EngineError):
    """An engine that does not answer could not be ended by force. facts: pid, reason."""

    code = "engine_not_ended"


class EngineUntraced(EngineError):
    """An engine runs and does not answer, and nothing tells which process it is. facts: lock (the file it holds)."""

    code = "engine_untraced"


class EngineOfOtherVersion(EngineError):
    """An engine runs whose account of itself does not say what this version asks for. facts: version."""

    code = "engine_of_other_version"


class EngineFailed(EngineError):
    """Native code refused a step. facts: reason."""

    code = "engine_failed"


class AdapterMismatch(EngineError):
    """What was asked for cannot be laid over the model. facts: path, reason."""

    code = "adapter_mismatch"
    status = 400


class SwapBroken(EngineError):
    """The engine went away while it was told to serve another snapshot. facts: reason."""

    code = "swap_broken"


class SnapshotBroken(EngineError):
    """What was asked for is not in the store, or is not as its digest says. facts: digest, reason."""

    code = "snapshot_broken"
    status = 400


class PrivateAdapterBroken(EngineError):
    """A member's own adapter is missing or damaged. facts: digest, reason."""

    code = "private_adapter_broken"
    status = 400


class FormNotMade(EngineError):
    """A model's file cannot be written in another form. facts: path, reason."""

    code = "form_not_made"


class FormNotMeasured(EngineError):
    """The file as pulled cannot be measured, so nothing can be held against it. facts: path, reason."""

    code = "form_not_measured"


class BenchRunning(EngineError):
    """Somebody else measures the forms of this model already. facts: model."""

    code = "bench_running"


def told(error: Exception) -> EngineError:
    """``error`` as whoever waits for an answer is told it; where one comes from that nobody foresaw is logged."""
    if isinstance(error, EngineError):
        return error
    # Its message is left out: it may hold what somebody said.
    note(log, "unforeseen", logging.ERROR, **raised(error))
    return EngineFailed(reason=type(error).__name__)


def error_from_code(code: str, facts: dict[str, str | int | float]) -> EngineError:
    """The error that another process reported as ``code`` and ``facts``; an unknown code is EngineFailed."""
    for kind in EngineError.__subclasses__():
        if kind.code == code:
            return kind(**facts)
    return EngineFailed(reason=code)
