"""A model in memory, with its cache, adapters, vocabulary and template; and which snapshot of it answers."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from configs.sections.engine import EngineSettings
from engine.chunks import largest_batch
from engine.errors import AdapterMismatch, EngineError, EngineFailed
from engine.fit import check_fits, physical_cores
from engine.gguf import check_adapter, check_gguf
from engine.logs import note
from engine.messages import PLAIN, Message, PromptOptions
from engine.native import Adapter, Context, ContextShape, Model
from engine.prompt import Prompt, render_pair, render_prompt, with_bos
from engine.readahead import read_ahead
from engine.readers import Readers
from engine.served import AdapterSet, ServedSnapshot
from engine.template import ChatTemplate
from engine.vocabulary import Vocabulary

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

log = logging.getLogger("enlace.engine")


class Loaded:
    """What answers questions: one model, and as many sets of adapters over it as answers are written with.

    The decoding thread uses it; another one may ``prepare`` a snapshot and read prompts meanwhile. Raises what
    check_gguf, check_fits, Model, Context, Adapter and ChatTemplate raise.
    """

    def __init__(self, served: ServedSnapshot, settings: EngineSettings) -> None:
        # Where it was measured how this model is computed best, that; see engine.forms.
        self.settings = settings = served.form.shaped(settings) if served.form else settings
        summary = check_gguf(served.model)
        size = min(settings.context_size, summary.context_length or settings.context_size)
        check_fits(summary, size * settings.slots, settings.memory_reserve_mb, settings.memory_limit_mb)
        self._shape = ContextShape(
            context_size=size,
            slots=settings.slots,
            batch_size=largest_batch(settings),
            outputs=max(settings.slots, 1 + settings.lookup_tokens),
            threads=settings.threads or physical_cores(),
            flash_attention=settings.flash_attention,
        )
        with contextlib.ExitStack() as undo:
            self.model = Model(served.model, gpu_layers=settings.gpu_layers)
            undo.callback(self.model.close)
            self.vocabulary = Vocabulary(self.model)
            self.template = ChatTemplate.of(self.model.template(), self.vocabulary, datetime.now)
            first = min(size, settings.first_context_size)
            self.context = Context(self.model, replace(self._shape, context_size=first))
            undo.pop_all()
        self.served = served
        self._readers = Readers()
        self._adapters: dict[Path, Adapter] = {}
        self._applied: AdapterSet = ()
        self._probed: dict[AdapterSet, npt.NDArray[np.float32]] = {}
        if served.adapters:
            try:
                self.prepare(served.adapters, before=())
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
        larger = self.new_context(size)
        try:
            for sequence in sequences:
                larger.restore(sequence, self.context.state(sequence))
        except BaseException:
            larger.close()
            raise
        self.context.close()
        self.context, self._applied = larger, ()

    def new_context(self, context_size: int, *, slots: int | None = None, outputs: int | None = None) -> Context:
        """A cache of its own over this model, laid out like the answers' own but for what is given.

        Raises EngineFailed.
        """
        shape = self._shape
        return Context(
            self.model,
            replace(shape, context_size=context_size, slots=slots or shape.slots, outputs=outputs or shape.outputs),
        )

    def holds(self, adapters: AdapterSet) -> bool:
        """Whether this set was prepared here, and not forgotten since."""
        return all(file.path in self._adapters for file in adapters)

    def apply(self, adapters: AdapterSet) -> None:
        """Compute with this set from the next batch on; it must have been prepared. Raises EngineFailed."""
        if adapters != self._applied:
            self.context.set_adapters(self.of(adapters))
            self._applied = adapters

    def of(self, adapters: AdapterSet) -> list[tuple[Adapter, float]]:
        """The adapters of a prepared set as a context takes them."""
        return [(self._adapters[file.path], file.scale) for file in adapters]

    def prompt(self, messages: Sequence[Message], options: PromptOptions = PLAIN) -> Prompt:
        """A conversation as this model reads it; any thread may ask. Raises TemplateBroken and EngineStopping."""
        with self._readers.reading():
            return render_prompt(self.template, self.vocabulary, messages, options)

    def pair(self, messages: Sequence[Message], answer: str) -> tuple[list[int], list[int]]:
        """The token ids of a conversation and of an answer to it, ``render_pair``'s; any thread may ask.

        Raises TemplateBroken and EngineStopping.
        """
        with self._readers.reading():
            return render_pair(self.template, self.vocabulary, messages, answer)

    def tokens(self, text: str) -> list[int]:
        """The token ids of a text by itself, begun as the model expects it. Any thread may ask.

        Raises EngineStopping.
        """
        with self._readers.reading():
            return with_bos(self.vocabulary, self.vocabulary.tokenize(text, special=False))

    def prepare(self, adapters: AdapterSet, before: AdapterSet | None = None) -> None:
        """Have a set of adapters at hand, and see that it changes what is computed.

        In a cache of its own, so that answers go on meanwhile. It is compared with ``before``, by default what is
        served now, and with the model alone: in place of other adapters, one that was not applied would look like a
        change. One thread at a time. On any error nothing has changed: AdapterMismatch, EngineFailed.
        """
        compared = self.served.adapters if before is None else before
        if adapters == compared:
            return
        new: dict[Path, Adapter] = {}
        try:
            for path in {file.path: None for file in adapters if file.path not in self._adapters}:
                check_adapter(path, self.served.model)
                new[path] = Adapter(self.model, path)
            at_hand = {**self._adapters, **new}
            known = dict(self._probed)
            for each in (compared, ()):
                known[each] = known[each] if each in known else self._probe(each, at_hand)
            now = self._probe(adapters, at_hand)
            for each in (compared, ()):
                same = _in_effect(adapters) in (_in_effect(each), frozenset())
                self._check_changed(known[each], now, adapters, same=same)
        except Exception:
            for adapter in new.values():
                adapter.close()
            raise
        self._adapters, self._probed = at_hand, {(): known[()], adapters: now}

    def forget_adapters(self, in_use: Iterable[AdapterSet]) -> None:
        """Free every adapter that is in none of these sets. Not while another thread prepares some."""
        wanted = {file.path for adapters in (*in_use, self.served.adapters, self._applied) for file in adapters}
        for path in self._adapters.keys() - wanted:
            self._adapters.pop(path).close()

    def close(self) -> None:
        """Free everything."""
        self._readers.close()
        self.context.close()
        self.model.close()

    def _check_changed(self, before: Any, after: Any, files: AdapterSet, *, same: bool) -> None:
        """An adapter that changes nothing was not applied, unless nothing is to change (``same``)."""
        import numpy as np

        path = str(files[-1].path if files else self.served.model)
        if not np.isfinite(after).all():
            raise AdapterMismatch(path=path, reason="the answers are not finite numbers")
        if not same and np.array_equal(before, after):
            raise AdapterMismatch(path=path, reason="it changes nothing")

    def _probe(self, adapters: AdapterSet, at_hand: Mapping[Path, Adapter]) -> Any:
        """The logits after the probe text with these adapters, shape (vocab,)."""
        ids = self.vocabulary.tokenize(self.settings.swap_probe, special=False)[: self.settings.batch_size]
        if not ids:
            raise EngineFailed(reason="the swap probe has no tokens")
        context = self.new_context(len(ids), slots=1, outputs=1)
        try:
            context.set_adapters([(at_hand[file.path], file.scale) for file in adapters])
            context.decode([(token, place, 0, place == len(ids) - 1) for place, token in enumerate(ids)])
            return context.logits(len(ids) - 1).copy()
        finally:
            context.close()


def _in_effect(adapters: AdapterSet) -> frozenset[tuple[Path, float]]:
    """What a set computes with: in whatever order, and without adapters that are scaled to nothing."""
    return frozenset((file.path, file.scale) for file in adapters if file.scale)


def load(served: ServedSnapshot, settings: EngineSettings, alive: Callable[[], None] | None = None) -> Loaded:
    """A snapshot in memory; as pulled, where the form in which it is to be served cannot be loaded.

    ``alive()``, where it is given, is called as long as there is progress. Raises what Loaded raises.
    """
    if alive:
        read_ahead(served.model, alive)
    try:
        return Loaded(served, settings)
    except EngineError as error:
        if served.pulled is None:
            raise
        note(log, "form_refused", logging.WARNING, snapshot=served.name, error=error)
        return load(served.pulled, settings, alive)
