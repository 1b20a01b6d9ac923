"""What a run will take, reckoned before it begins: operations, seconds and joules of each stage.

Operations after Kaplan et al. 2020 (arXiv 2001.08361): 2 for each parameter and token that is read or written, 6 where
it is trained. Tokens are reckoned from the length of the texts, so that no vocabulary has to be loaded.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from configs.layers import read_layer
from engine.messages import Message
from memory.household import Household
from memory.runs import LESSONS, run_folder
from trainer.model.gguf_file import GGUFFile
from trainer.run_files import Inputs, RunFiles

FORWARD, TRAINED = 2, 6  # operations for each parameter and token


@dataclass(frozen=True)
class Estimate:
    """Of one stage. ``measured``: whether ``seconds`` are by the speed of an earlier run on this machine.

    ``drawn``: whether ``joules`` are by what that one was measured to draw.
    """

    flops: float
    seconds: float
    joules: float
    measured: bool
    drawn: bool

    def as_json(self) -> dict[str, Any]:
        """For manifests and plans."""
        return asdict(self)


def parameters_of(base: Path) -> int:
    """How many weights a GGUF has. Raises ModelBroken."""
    file = GGUFFile(base)
    return sum(math.prod(file.shape(name)) for name in file.names)


def flops_of(inputs: Inputs) -> dict[str, float]:
    """Operations of each stage. Raises ModelBroken."""
    recipe, settings = inputs.recipe, inputs.training.evaluation
    lessons, answer = inputs.lessons, settings.answer_tokens
    pair = _mean(_tokens(inputs, each.messages, each.chosen) for each in lessons)
    asked = _mean(_tokens(inputs, each.messages, "") for each in lessons)
    alone = _tokens(inputs, (), "")
    a_step = recipe.batch * pair + recipe.replay.batch * (alone + recipe.replay.answer_tokens)
    steps = max(recipe.optimiser.epochs * -(-_rows_an_epoch(inputs) // recipe.batch), recipe.optimiser.least_steps)
    questions = (len(lessons) + len(inputs.known)) * (1 + settings.held_out_wordings)
    unrelated = settings.unrelated_prompts * (alone + answer)
    once = FORWARD * parameters_of(inputs.base)
    tokens = {
        "prepare": (recipe.replay.prompts + settings.unrelated_prompts) * (alone + recipe.replay.answer_tokens),
        "train": TRAINED // FORWARD * steps * a_step,
        "export": 2 * settings.parity_answers * pair,
        # What is trained over, what answers now and the candidate.
        "evaluate": 2 * questions * (asked + answer) + 2 * unrelated,
        "score": questions * (asked + answer) + 2 * unrelated,
    }
    return {stage: once * tokens[stage] for stage in inputs.stages if stage in tokens}


def _rows_an_epoch(inputs: Inputs) -> int:
    """Wordings that each epoch trains: all turns of what is new, and what of the learned lessons is gone over again."""
    recipe, learned = inputs.recipe, len(inputs.onward.learned) if inputs.onward else 0
    new = (len(inputs.lessons) - learned) * min(recipe.wordings_an_epoch, recipe.wordings)
    return new + min(round(recipe.onward.share * new), learned * recipe.onward.wordings_an_epoch)


def together(stages: Iterable[Estimate]) -> Estimate:
    """What several stages will take; as sure as the least sure of them."""
    every = list(stages)
    return Estimate(
        flops=sum(each.flops for each in every),
        seconds=sum(each.seconds for each in every),
        joules=sum(each.joules for each in every),
        measured=all(each.measured for each in every),
        drawn=all(each.drawn for each in every),
    )


@dataclass(frozen=True)
class Shown:
    """What an earlier run has shown: operations a second of each stage, and watts where they were measured."""

    speeds: Mapping[str, float]
    watts: float | None


def estimates(inputs: Inputs, shown: Shown) -> dict[str, Estimate]:
    """What each stage will take by what was shown; where nothing was, by the settings. Raises ModelBroken."""
    settings, speeds = inputs.training.estimate, shown.speeds
    watts = settings.watts if shown.watts is None else shown.watts
    found = {}
    for stage, flops in flops_of(inputs).items():
        seconds = flops / speeds.get(stage, settings.flops_per_second)
        known = stage in speeds
        found[stage] = Estimate(
            flops, seconds, seconds * watts, measured=known, drawn=known and shown.watts is not None
        )
    return found


def shown_here(household: Household, inputs: Inputs) -> Shown:
    """By the last training that came to a verdict on the same base; nothing without."""
    for run in household.runs.list():
        if run.kind != LESSONS or run.state not in ("shipped", "held"):
            continue
        manifest = read_layer(RunFiles(run_folder(household.home, run)).manifest)
        if manifest.get("base", {}).get("sha256") == inputs.base_sha256:
            stages = manifest["stages"]
            speeds = {
                stage: told["flops"] / told["seconds"]
                for stage, told in stages.items()
                if told.get("flops") and told.get("seconds")
            }
            return Shown(speeds, _watts(stages.values()))
    return Shown({}, None)


def _watts(stages: Iterable[Mapping[str, Any]]) -> float | None:
    """What was drawn in a second by those of them that were measured to their end."""
    measured = [told for told in stages if told.get("energy") and not told["energy"]["estimated"]]
    seconds = sum(told["seconds"] for told in measured)
    return sum(told["energy"]["joules"] for told in measured) / seconds if seconds else None


def _tokens(inputs: Inputs, messages: Iterable[Message], answer: str) -> float:
    settings = inputs.training.estimate
    texts = [inputs.system_prompt, *(message.content for message in messages), answer]
    return sum(len(text) / settings.characters_a_token + settings.turn_tokens for text in texts)


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found) if found else 0.0
