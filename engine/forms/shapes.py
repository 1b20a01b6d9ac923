"""The ways of computing a model that are tried: layers on an accelerator, threads, flash attention, chunks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from configs.sections.engine import EngineSettings
from engine.fit import physical_cores
from engine.gguf import check_gguf

Step = Callable[[EngineSettings], list[EngineSettings]]


def shapes_to_try(settings: EngineSettings, model: Path, offload: bool) -> Sequence[Step]:
    """Steps in their order; each gives the neighbours of the best settings up to then, without those themselves."""
    form = settings.form

    def layers(best: EngineSettings) -> list[EngineSettings]:
        count = check_gguf(model).layers + 1  # the head counts as one
        return _others(best, "gpu_layers", [round(share * count) for share in form.layer_shares]) if offload else []

    def threads(best: EngineSettings) -> list[EngineSettings]:
        cores = physical_cores()
        counts = sorted({max(1, round(share * cores)) for share in form.thread_shares})
        now = best.threads or cores
        return [best.model_copy(update={"threads": count}) for count in counts if count != now]

    def attention(best: EngineSettings) -> list[EngineSettings]:
        return _others(best, "flash_attention", [not best.flash_attention])

    def chunks(best: EngineSettings) -> list[EngineSettings]:
        return _others(best, "prompt_chunk", form.chunks)

    return layers, threads, attention, chunks


def _others(best: EngineSettings, key: str, values: Sequence[object]) -> list[EngineSettings]:
    return [best.model_copy(update={key: value}) for value in values if value != getattr(best, key)]
