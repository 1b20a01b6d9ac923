"""Settings of the part ``memory.documents``; defaults in ``configs/defaults/memory_documents.yaml``."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class DocumentsSettings(BaseModel):
    """Which documents are read, and what reading one may take."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    largest_mb: int = Field(gt=0, description="Largest document, in megabytes; larger ones are told and left alone.")
    unpacked_mb: int = Field(gt=0, description="Most that a packed document (DOCX) may hold, in megabytes.")
    characters: int = Field(gt=0, description="How far into a document's text is read.")
    read_seconds: float = Field(gt=0, description="How long reading one may take before it is ended.")
    reader_mb: int = Field(
        ge=400, description="Memory, as addresses, that the process which reads them may have, in megabytes."
    )
    changing_tries: int = Field(ge=1, description="How often one that changes while it is read is read again.")
    lease_seconds: float = Field(
        gt=0, description="A document that a process works on without a sign of life for so long is another's to take."
    )
    model: bool = Field(description="Whether the model reads what the rules made nothing of, at night.")
    model_sentences: int = Field(ge=0, description="Most sentences of one document that the model is asked about.")
    model_tokens: int = Field(ge=1, description="Longest answer about one sentence, in tokens; it is a line of JSON.")
    model_wait_s: float = Field(
        gt=0, description="How long to wait before asking again while somebody else is answered, in seconds."
    )
    hops: int = Field(ge=1, description="How far around somebody `enlace graph show` looks by itself.")
    neighbours: int = Field(ge=1, description="Most nodes that one look into the graph gives.")
    recalled: int = Field(ge=0, description="Most statements of documents that come to mind at a question.")
    recalled_aside: float = Field(
        ge=0, le=1, description="How surely a question is about what it asks of somebody among other things."
    )
    recalled_unasked: float = Field(
        ge=0, le=1, description="How surely a question that names somebody is about what it does not ask for."
    )
    recalled_names: int = Field(ge=1, description="Most nodes of one graph that a question is taken to name.")
