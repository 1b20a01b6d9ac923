"""Settings of ``engine.server``: who answers, this machine's own engine or a server of the family's."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

Kind = Literal["own", "llama-server", "vllm", "ollama"]


class ServerSettings(BaseModel):
    """Another server that answers instead of the engine."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Kind = Field(
        description="Who answers: `own`, the engine on this machine, or a server that the family runs: "
        "`llama-server`, `vllm`, `ollama`."
    )
    url: str = Field(description="Where that server is, as `http://127.0.0.1:8080`.")
    model: str = Field(
        description="The model to ask that server for; empty takes the only one that it serves (Ollama: the one of "
        "the current snapshot, copied to it)."
    )
    outside: bool = Field(
        description="Whether that server may be outside the house, at a public address. What is asked then leaves "
        "the house."
    )
    key_variable: str = Field(
        description="The environment variable that holds the server's key; empty where it asks for none."
    )
    key_file: str = Field(description="A file that holds the server's key, used where no variable is named.")
    ca_file: str = Field(
        description="Certificates to trust for `https`, as a PEM file; empty trusts those that the system trusts."
    )
    connect_timeout_s: float = Field(gt=0, description="How long to wait for a connection.")
    status_timeout_s: float = Field(gt=0, description="How long to wait when only asking how the server is.")
    tries: int = Field(
        ge=1, description="How often a question is sent where the server fails before the first word of its answer."
    )
    wait_s: float = Field(ge=0, description="The wait before the second try; each further one doubles it.")
    longest_wait_s: float = Field(
        ge=0, description="The longest wait between two tries, also where the server names one."
    )
    longest_reply_bytes: int = Field(
        ge=1024, description="A reply, or one event of a stream, that is longer than this is not read to its end."
    )
    adapters_folder: str = Field(
        description="Where adapters are put for vLLM, in a folder that it can read; empty is a folder in the home."
    )
    adapters_folder_there: str = Field(
        description="The same folder as vLLM sees it, where that is another path (in a container, on another machine)."
    )
    probe_tokens: int = Field(
        ge=1, le=20, description="How many likeliest tokens are compared to see that an adapter changes the answers."
    )

    @model_validator(mode="after")
    def _has_an_address(self) -> ServerSettings:
        if self.kind != "own" and not self.url.strip():
            raise PydanticCustomError(
                "address_missing", "engine.server.url must say where {server} is", {"server": self.kind}
            )
        return self
