"""A snapshot in memory: model, cache, adapters, vocabulary and template; and its exchange for another one."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from configs.sections.engine import EngineSettings
from engine.errors import AdapterMismatch, EngineFailed, EngineStopping
from engine.fit import check_fits, physical_cores
from engine.gguf import check_adapter, check_gguf
from engine.messages import Message
from engine.native import Adapter, Context, ContextShape, Model
from engine.prompt import render
from engine.served import AdapterFile, ServedSnapshot
from engine.template import ChatTemplate
from engine.vocabulary import Vocabulary

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class Loaded:
    """What answers questions. Made and used by one thread at a time.

    Raises what check_gguf, check_fits, Model, Context, Adapter and ChatTemplate raise.
    """

    def __init__(self, served: ServedSnapshot, settings: EngineSettings) -> None:
        self._settings = settings
        summary = check_gguf(served.model)
        size = min(settings.context_size, summary.context_length or settings.context_size)
        check_fits(summary, size * settings.slots, settings.memory_reserve_mb)
        shape = ContextShape(
            context_size=size,
            slots=settings.slots,
            batch_size=settings.batch_size,
            outputs=settings.slots,
            threads=settings.threads or physical_cores(),
            flash_attention=settings.flash_attention,
        )
        self._shape = shape
        with contextlib.ExitStack() as undo:
            self.model = Model(served.model, gpu_layers=settings.gpu_layers)
            undo.callback(self.model.close)
            self.vocabulary = Vocabulary(self.model)
            self.template = ChatTemplate.of(self.model.template(), self.vocabulary)
            self.context = Context(self.model, replace(shape, context_size=min(size, settings.first_context_size)))
            undo.pop_all()
        self.served = served
        self._open, self._closed = threading.Lock(), False
        self._adapters: list[tuple[Adapter, float]] = []
        self._probed: npt.NDArray[np.float32] | None = None
        if served.adapters:
            try:
                self._apply(served.adapters)
            except Exception:
                self.close()
                raise

    @property
    def context_size(self) -> int:
        """Tokens that one conversation may hold."""
        return self._shape.context_size

    def make_room(self, tokens: int, sequences: Sequence[int]) -> None:
        """Have room for ``tokens`` in every slot; what these sequences hold is kept. Raises EngineFailed.

        The cache starts small and doubles, because clearing it is most of what starting an engine takes.
        """
        if tokens <= self.context.size:
            return
        size = min(max(tokens, 2 * self.context.size), self._shape.context_size)
        larger = Context(self.model, replace(self._shape, context_size=size))
        try:
            larger.take_over(self.context, sequences)
            larger.set_adapters(self._adapters)
        except EngineFailed:
            larger.close()
            raise
        self.context.close()
        self.context = larger

    def prompt(self, messages: Sequence[Message]) -> list[int]:
        """The token ids of a conversation; any thread may ask. Raises TemplateBroken and EngineStopping."""
        with self._open:
            if self._closed:
                raise EngineStopping
            return render(self.template, self.vocabulary, messages)

    def exchange_adapters(self, served: ServedSnapshot) -> None:
        """Serve another snapshot of the same model; the cache is empty afterwards.

        On any error the old adapters are back and the error is raised: AdapterMismatch, EngineFailed.
        """
        if served.adapters != self.served.adapters:
            self._apply(served.adapters)
        self.served = served

    def close(self) -> None:
        """Free everything."""
        with self._open:
            self._closed = True
            self.context.close()
            self.model.close()

    def _apply(self, files: Sequence[AdapterFile]) -> None:
        before, old = self._probe_now(), self._adapters
        new: list[tuple[Adapter, float]] = []
        try:
            for file in files:
                check_adapter(file.path, self.served.model)
                new.append((Adapter(self.model, file.path), file.scale))
            self.context.set_adapters(new)
            self._probed = None
            self._check_changed(before, self._probe_now(), files)
        except Exception:
            self.context.set_adapters(old)
            self._probed = before
            for adapter, _ in new:
                adapter.close()
            raise
        finally:
            self.context.clear()
        self._adapters = new
        for adapter, _ in old:
            adapter.close()

    def _check_changed(self, before: Any, after: Any, files: Sequence[AdapterFile]) -> None:
        """An adapter that changes nothing was not applied; the base alone may equal an adapter scaled to nothing."""
        import numpy as np

        path = str(files[-1].path if files else self.served.model)
        if not np.isfinite(after).all():
            raise AdapterMismatch(path=path, reason="the answers are not finite numbers")
        if any(file.scale for file in files) and np.array_equal(before, after):
            raise AdapterMismatch(path=path, reason="it changes nothing")

    def _probe_now(self) -> Any:
        """The logits after the probe text with the adapters of this moment; remembered until they change."""
        if self._probed is None:
            ids = self.vocabulary.tokenize(self._settings.swap_probe, special=False)[: self._settings.batch_size]
            if not ids:
                raise EngineFailed(reason="the swap probe has no tokens")
            self.context.clear()
            self.context.decode([(token, place, 0, place == len(ids) - 1) for place, token in enumerate(ids)])
            self._probed = self.context.logits(len(ids) - 1).copy()
            self.context.clear()
        return self._probed
