"""The group ``hardware`` of a run: the machine that it is meant for; profiles in ``configs/hardware``."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

Precision = Literal["float32", "float16", "bfloat16"]
Attention = Literal["math", "efficient", "flash"]
Weights = Literal["copied", "shared_out"]


def _as_text(value: Any) -> Any:
    # YAML takes 7.5 for a number.
    return str(value) if isinstance(value, float) else value


class Hardware(BaseModel):
    """What a run asks of the machine; held against the machine itself before anything starts."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    device: Literal["cpu", "cuda"] = Field(description="What computes: the processor, or NVIDIA's cards.")
    capability: Annotated[str, BeforeValidator(_as_text)] = Field(
        pattern=r"^$|^\d+[.]\d$", description="The card's compute capability, such as 7.5; empty for a processor."
    )
    memory_gib: float = Field(
        gt=0, description="Memory that each process may take, in GiB: the card's, or the processor's."
    )
    precision: Precision = Field(
        description="Format in which matrices are multiplied; float16 comes with a scaled loss. Weights stay float32."
    )
    attention: Attention = Field(
        description="How attention is computed: math stores all scores, efficient and flash store none."
    )
    threads: int = Field(ge=0, description="Processor threads of each process (0: one a core, divided among them).")
    processes: int = Field(ge=1, description="Processes that train together, one a card.")
    weights: Weights = Field(
        description="Whether each process holds all matrices (copied), or a share of them (shared_out; FSDP2), for a "
        "model that is too large for one."
    )
    peak_flops: float = Field(gt=0, description="Operations a second of one process at its best, in that precision.")
    watts: float = Field(gt=0, description="What one process has the machine draw, where nothing measures it.")
    price_a_kwh: float = Field(ge=0, description="Price of a kilowatt hour, in the family's own currency.")
