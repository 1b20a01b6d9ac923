"""Settings of ``engine.export``: snapshots written out for other machines of the house."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class ExportSettings(BaseModel):
    """What an exported snapshot is served by."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    ollama_image: str = Field(
        min_length=1, description="The image of Ollama in an export; from 0.34.1 on Ollama takes no adapters."
    )
    ollama_port: int = Field(ge=1, le=65535, description="Where that Ollama listens, on the machine's loopback alone.")
    llama_server_image: str = Field(min_length=1, description="The image of llama.cpp's server in an export.")
    llama_server_port: int = Field(
        ge=1, le=65535, description="Where that server listens, on the machine's loopback alone."
    )
    overhead_mb: int = Field(
        ge=0, description="Memory that a server needs beside the weights and the cache of the conversations."
    )
    create_mb: int = Field(ge=64, description="The memory limit of the step that hands the model to Ollama.")
