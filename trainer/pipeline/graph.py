"""The graph of a run: which stage takes what of which other one. Checked whole before anything is begun.

Everything here takes time that grows with the number of stages and of what they take, and no faster.
"""

from __future__ import annotations

import difflib
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from trainer.errors import GraphCyclic, InputMismatch, InputMissing, RecipeKeyUnknown
from trainer.pipeline.artifacts import Artifact
from trainer.pipeline.stages import Stage
from trainer.pipeline.usual import Wiring

MOST_SHOWN = 12  # steps of a circle that are named


@dataclass(frozen=True)
class Step:
    """A stage in its place. ``takes``: for each argument, the name of the source or step that it comes from."""

    name: str
    stage: Stage
    takes: Mapping[str, str]


class Graph:
    """``steps``: in an order in which each comes after what it takes, as near to that of the recipe as can be."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self.steps = tuple(steps)
        self._followers: dict[str, list[str]] = {}
        for step in self.steps:
            for source in dict.fromkeys(step.takes.values()):
                self._followers.setdefault(source, []).append(step.name)

    @property
    def names(self) -> tuple[str, ...]:
        """Of the steps, in their order."""
        return tuple(step.name for step in self.steps)

    def step(self, name: str) -> Step:
        """KeyError for a name that is not there."""
        return next(step for step in self.steps if step.name == name)

    def made_invalid_by(self, name: str) -> tuple[str, ...]:
        """The step and all that depend on what it makes, in their order: what has to be done again where it failed."""
        found, waiting = {name}, deque([name])
        while waiting:
            for follower in self._followers.get(waiting.popleft(), ()):
                if follower not in found:
                    found.add(follower)
                    waiting.append(follower)
        return tuple(step.name for step in self.steps if step.name in found)


def graph_of(wiring: Wiring, stages: Mapping[str, Stage], sources: Mapping[str, type[Artifact]], file: str) -> Graph:
    """The graph that a recipe's ``file`` describes: each step is the stage of its name.

    Raises RecipeKeyUnknown, InputMissing, InputMismatch, GraphCyclic.
    """
    steps = []
    for name, takes in wiring.items():
        if name not in stages:
            raise RecipeKeyUnknown(file=file, key=f"stages.{name}", nearest=_nearest(name, stages))
        steps.append(Step(name, stages[name], dict(takes)))
    gives = {**sources, **{step.name: step.stage.gives for step in steps}}
    for step in steps:
        _check_inputs(step, gives, file)
    return Graph(_ordered(steps, file))


def _check_inputs(step: Step, gives: Mapping[str, type[Artifact]], file: str) -> None:
    for argument, source in step.takes.items():
        wants = step.stage.takes.get(argument)
        if wants is None:
            key = f"stages.{step.name}.{argument}"
            raise RecipeKeyUnknown(file=file, key=key, nearest=_nearest(argument, step.stage.takes))
        if source not in gives:
            key = f"stages.{step.name}.{argument}: {source}"
            raise RecipeKeyUnknown(file=file, key=key, nearest=_nearest(source, gives))
        if not issubclass(gives[source], wants):
            told = {"wants": wants.__name__, "source": source, "gives": gives[source].__name__}
            raise InputMismatch(file=file, stage=step.name, input=argument, **told)
    for argument, wants in step.stage.takes.items():
        if argument not in step.takes:
            raise InputMissing(file=file, stage=step.name, input=argument, wants=wants.__name__)


def _ordered(steps: Sequence[Step], file: str) -> list[Step]:
    """Kahn's algorithm (Kahn 1962, doi 10.1145/368996.369025). Raises GraphCyclic."""
    named = {step.name: step for step in steps}
    waits = {step.name: {source for source in step.takes.values() if source in named} for step in steps}
    followers: dict[str, list[str]] = {}
    for name, sources in waits.items():
        for source in sources:
            followers.setdefault(source, []).append(name)
    left = {name: len(sources) for name, sources in waits.items()}
    ready = deque(name for name, count in left.items() if not count)
    found = []
    while ready:
        name = ready.popleft()
        found.append(named[name])
        for follower in followers.get(name, ()):
            left[follower] -= 1
            if not left[follower]:
                ready.append(follower)
    if len(found) < len(steps):
        raise GraphCyclic(file=file, stages=_circle({name: waits[name] for name, count in left.items() if count}))
    return found


def _circle(waits: Mapping[str, Iterable[str]]) -> str:
    """One of the circles among steps that wait for each other, as "a → b → a"."""
    name, path = next(iter(waits)), dict[str, None]()
    while name not in path:
        path[name] = None
        # Each waits for another one that does; in the order of their names, so that the sentence is always the same.
        name = min(source for source in waits[name] if source in waits)
    names = list(path)
    circle = [*names[names.index(name) :][::-1], names[-1]]
    shown = circle if len(circle) <= MOST_SHOWN else [*circle[: MOST_SHOWN - 1], "…", circle[-1]]
    return " → ".join(shown)


def _nearest(name: str, known: Iterable[str]) -> str:
    return next(iter(difflib.get_close_matches(name, list(known), n=1)), "")
