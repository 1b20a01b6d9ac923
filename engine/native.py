"""Models, contexts and adapters of llama.cpp as Python objects that free what they hold.

Only the engine process and the trainer's workers import this: native code can abort its whole process.
None of it is safe for several threads at once.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.errors import AdapterMismatch, EngineFailed, ModelBroken
from engine.library import forget_complaints, last_complaint, library

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

LONGEST_META = 1 << 20

# Bytes in memory of their own, as llama.cpp writes and reads them.
SequenceState = ctypes.Array[ctypes.c_uint8]


@dataclass(frozen=True)
class ContextShape:
    """How a context is laid out: ``context_size`` tokens for each of ``slots``; ``outputs`` rows of logits a batch."""

    context_size: int
    slots: int
    batch_size: int
    outputs: int
    threads: int
    flash_attention: bool


class Model:
    """A GGUF model in memory. Raises ModelBroken when llama.cpp refuses it."""

    def __init__(self, path: Path, *, gpu_layers: int = 0, vocab_only: bool = False) -> None:
        self._lib = library()
        parameters = self._lib.llama_model_default_params()
        parameters.n_gpu_layers = gpu_layers
        parameters.vocab_only = vocab_only
        forget_complaints()
        self.path = path
        self.handle = self._lib.llama_model_load_from_file(os.fsencode(path), parameters)
        if not self.handle:
            raise ModelBroken(path=str(path), reason=last_complaint("llama.cpp refuses it"))
        self.vocab = self._lib.llama_model_get_vocab(self.handle)
        self.vocab_size: int = self._lib.llama_vocab_n_tokens(self.vocab)
        self.width: int = self._lib.llama_model_n_embd_out(self.handle)
        # A model made for embeddings says how it makes one state of many; left to itself it gives no others.
        self.pools = self.meta(f"{self.meta('general.architecture')}.pooling_type") is not None

    @property
    def forgets_parts(self) -> bool:
        """Whether its cache can forget the end of a sequence; a recurrent model's state holds all that came before."""
        return not (self._lib.llama_model_is_recurrent(self.handle) or self._lib.llama_model_is_hybrid(self.handle))

    def meta(self, key: str) -> str | None:
        """The value of a metadata key as text, or None where the file has no such key."""
        return _meta(lambda *out: self._lib.llama_model_meta_val_str(self.handle, key.encode(), *out))

    def template(self) -> str | None:
        """The chat template that the file carries."""
        text = self._lib.llama_model_chat_template(self.handle, None)
        return text.decode("utf-8", errors="replace") if text else None

    def close(self) -> None:
        """Free the model, and with it every adapter loaded for it."""
        if self.handle:
            self._lib.llama_model_free(self.handle)
            self.handle = None


class Adapter:
    """A LoRA adapter loaded for one model. Raises AdapterMismatch when it does not fit or says no alpha."""

    def __init__(self, model: Model, path: Path) -> None:
        self._lib = library()
        forget_complaints()
        self.path = path
        self.handle = self._lib.llama_adapter_lora_init(model.handle, os.fsencode(path))
        if not self.handle:
            raise AdapterMismatch(path=str(path), reason=last_complaint("llama.cpp refuses it"))
        # llama.cpp takes a missing alpha for "no scaling", which serves another function than was trained.
        if _meta(lambda *out: self._lib.llama_adapter_meta_val_str(self.handle, b"adapter.lora.alpha", *out)) is None:
            self.close()
            raise AdapterMismatch(path=str(path), reason="adapter.lora.alpha is missing")

    def close(self) -> None:
        """Free the adapter; its context must not be using it any more."""
        if self.handle:
            self._lib.llama_adapter_lora_free(self.handle)
            self.handle = None


class Context:
    """A KV cache over a model: several sequences, each with ``size`` positions of its own.

    The sequences do not share cells: what one of them computes then never depends on where another one's
    tokens happen to lie. Raises EngineFailed when there is no memory for it.
    """

    def __init__(self, model: Model, shape: ContextShape) -> None:
        self._lib = library()
        parameters = self._lib.llama_context_default_params()
        parameters.n_ctx = shape.context_size * shape.slots
        parameters.n_seq_max = shape.slots
        parameters.kv_unified = False
        parameters.n_batch = parameters.n_ubatch = shape.batch_size
        parameters.n_outputs_max = shape.outputs
        parameters.n_threads = parameters.n_threads_batch = shape.threads
        parameters.flash_attn_type = int(shape.flash_attention)
        if model.pools:
            parameters.pooling_type = self._lib.LLAMA_POOLING_TYPE_NONE
        forget_complaints()
        self.handle = self._lib.llama_init_from_model(model.handle, parameters)
        if not self.handle:
            raise EngineFailed(reason=last_complaint("no memory for the context"))
        self.size: int = self._lib.llama_n_ctx_seq(self.handle)
        self._vocab_size = model.vocab_size
        self._width = model.width
        self._memory = self._lib.llama_get_memory(self.handle)
        self._capacity = shape.batch_size
        self._batch = self._lib.llama_batch_init(shape.batch_size, 0, 1)

    def decode(self, rows: Sequence[tuple[int, int, int, bool]]) -> None:
        """Compute one batch of (token, position, sequence, wants logits). Raises EngineFailed."""
        batch = self._batch
        if len(rows) > self._capacity:
            raise EngineFailed(reason=f"a batch of {len(rows)} tokens for room of {self._capacity}")
        tokens, positions, counts, sequences, logits = (
            batch.token,
            batch.pos,
            batch.n_seq_id,
            batch.seq_id,
            batch.logits,
        )
        for index, (token, position, sequence, wanted) in enumerate(rows):
            tokens[index] = token
            positions[index] = position
            counts[index] = 1
            sequences[index][0] = sequence
            logits[index] = wanted
        batch.n_tokens = len(rows)
        forget_complaints()
        code = self._lib.llama_decode(self.handle, batch)
        if code:
            raise EngineFailed(reason=last_complaint(f"llama_decode says {code}"))

    def logits(self, row: int) -> npt.NDArray[np.float32]:
        """A view of the logits of the batch's row ``row``, shape (vocab,); valid until the next decode."""
        import numpy as np

        pointer = self._lib.llama_get_logits_ith(self.handle, row)
        if not pointer:
            raise EngineFailed(reason=f"row {row} has no logits")
        return np.ctypeslib.as_array(pointer, shape=(self._vocab_size,))

    def keep_states(self) -> None:
        """Give hidden states as well from the next decode on, for every row that wants logits."""
        self._lib.llama_set_embeddings(self.handle, True)

    def states(self, row: int) -> npt.NDArray[np.float32]:
        """A view of the last hidden state of the batch's row ``row``, shape (width,); valid until the next decode.

        Raises EngineFailed.
        """
        import numpy as np

        pointer = self._lib.llama_get_embeddings_ith(self.handle, row)
        if not pointer:
            raise EngineFailed(reason=f"row {row} has no hidden state")
        return np.ctypeslib.as_array(pointer, shape=(self._width,))

    def keep(self, sequence: int, count: int) -> bool:
        """Forget all of a sequence from position ``count`` on; False where this kind of cache cannot."""
        return bool(self._lib.llama_memory_seq_rm(self._memory, sequence, count, -1))

    def state_size(self, sequence: int) -> int:
        """Bytes that ``state`` takes for this sequence."""
        return int(self._lib.llama_state_seq_get_size(self.handle, sequence))

    def state(self, sequence: int) -> SequenceState:
        """All that the cache holds of a sequence, to the last bit. Raises EngineFailed."""
        size = self.state_size(sequence)
        kept = (ctypes.c_uint8 * size)()
        if self._lib.llama_state_seq_get_data(self.handle, kept, size, sequence) != size:
            raise EngineFailed(reason="the cache of a conversation cannot be copied")
        return kept

    def restore(self, sequence: int, state: SequenceState) -> None:
        """Have in ``sequence`` what ``state`` holds, in place of what is there. Raises EngineFailed."""
        if not self._lib.llama_state_seq_set_data(self.handle, state, len(state), sequence):
            raise EngineFailed(reason="the cache of a conversation cannot be put back")

    def clear(self) -> None:
        """Forget every sequence."""
        self._lib.llama_memory_clear(self._memory, True)

    def set_adapters(self, adapters: Sequence[tuple[Adapter, float]]) -> None:
        """Apply exactly these adapters with these scales from the next decode on. Raises EngineFailed."""
        count = len(adapters)
        handles = (self._lib.llama_adapter_lora_p_ctypes * count)(*(adapter.handle for adapter, _ in adapters))
        scales = (ctypes.c_float * count)(*(scale for _, scale in adapters))
        if self._lib.llama_set_adapters_lora(self.handle, handles, count, scales):
            raise EngineFailed(reason="llama.cpp does not take the adapters")

    def close(self) -> None:
        """Free the cache. The model may be freed only after this."""
        if self.handle:
            self._lib.llama_batch_free(self._batch)
            self._lib.llama_free(self.handle)
            self.handle = None


def _meta(read: Any) -> str | None:
    """A metadata value read by ``read(buffer, size)``, which returns its length or -1."""
    length = read(None, 0)
    if length < 0:
        return None
    buffer = ctypes.create_string_buffer(min(length, LONGEST_META) + 1)
    read(buffer, len(buffer))
    return buffer.value.decode("utf-8", errors="replace")
