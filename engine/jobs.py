"""One answer to be written: what is asked of the decoding thread and what it reports back."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from engine.answer_form import AnswerForm
from engine.answers import Finished, Sampling, TokenLogprob, Waiting
from engine.errors import EngineError, EngineStopping, PromptTooLong, RequestWrong, TemplateBroken
from engine.messages import PLAIN, Message, PromptOptions
from engine.served import ServedSnapshot, exchanged
from engine.template import NO_TOKENS

if TYPE_CHECKING:
    from configs.sections.engine import EngineSettings
    from engine.loaded import Loaded


@dataclass(frozen=True)
class Written:
    """More text of the answer; ``snapshot`` is what wrote it. ``logprobs``: what its tokens are worth, if asked for."""

    text: str
    snapshot: str
    logprobs: tuple[TokenLogprob, ...] = ()


JobEvent = Waiting | Written | Finished | EngineError


@dataclass(eq=False)
class Job:
    """``emit`` is called by the decoding thread, ends with exactly one Finished or EngineError, and must not block.

    ``seed`` starts this answer's randomness. ``cache_key`` names the conversation, so that it gets back the slot
    that still holds its beginning. ``owner`` is who asks, so that nobody takes every slot. ``patient``: it is cancelled
    as soon as, and as long as, somebody asks who is not. ``served`` answers it where
    that is not what is served at the time; ``otherwise``: what is served does, where ``served`` cannot any more.
    ``cancelled`` may be set by any thread at any time. ``prompt``: the tokens of ``messages`` as the model in the file
    ``model`` reads them, once ``read`` has been called; ``form``: how its answer has to be read; ``place``: the place
    in the queue that was told last.
    """

    messages: Sequence[Message]
    sampling: Sampling
    seed: int
    emit: Callable[[JobEvent], None]
    cache_key: str | None = None
    options: PromptOptions = PLAIN
    owner: str | None = None
    patient: bool = False
    served: ServedSnapshot | None = None
    otherwise: bool = False
    cancelled: bool = False
    arrived: float = field(default=0.0, init=False)
    prompt: list[int] = field(default_factory=list, init=False)
    place: int = field(default=0, init=False)
    form: AnswerForm = field(default_factory=AnswerForm, init=False)
    model: Path | None = field(default=None, init=False)

    def answered_by(self, loaded: Loaded) -> ServedSnapshot:
        """What it is answered with; its adapters are at hand. Raises AdapterMismatch where they cannot be any more."""
        served = self.served or loaded.served
        if served.model == loaded.served.model and loaded.holds(served.adapters):
            return served
        if self.otherwise:
            return loaded.served
        raise exchanged(served)

    def read(self, loaded: Callable[[], Loaded]) -> None:
        """Read the messages with the model that ``loaded()`` gives now.

        Raises PromptTooLong, TemplateBroken, and RequestWrong where tokens are named that this model does not have.
        Raises EngineStopping where that model was closed and no other took its place.
        """
        while True:
            reader = loaded()
            try:
                read = reader.prompt(self.messages, self.options)
            except EngineStopping:
                if reader is loaded():
                    raise
                continue
            size = reader.vocabulary.size
            strange = next((token for token in self.sampling.logit_bias if token >= size), None)
            if strange is not None:
                raise RequestWrong(field=f"logit_bias.{strange}", reason=f"the model's tokens end at {size - 1}")
            if not read.ids:
                # There is nothing to compute a first token from, and a batch of nothing is an error of everybody's.
                raise TemplateBroken(reason=NO_TOKENS)
            if len(read.ids) >= reader.context_size:
                raise PromptTooLong(prompt_tokens=len(read.ids), context_size=reader.context_size)
            self.prompt, self.form, self.model = read.ids, read.form, reader.served.model
            return


def place_for(job: Job, in_hand: Collection[Job], settings: EngineSettings) -> bool:
    """Whether there is a place for ``job`` beside these; the patient ones are cancelled for one who is not."""
    patient = [] if job.patient else [other for other in in_hand if other.patient]
    if len(in_hand) - len(patient) >= settings.queue_length + settings.slots:
        return False
    for other in patient:
        other.cancelled = True
    return True
