"""Settings of the section ``training``; defaults in ``configs/defaults/training.yaml``."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from configs.sections.budget import BudgetSettings
from configs.sections.defence import DefenceSettings
from configs.sections.energy import EnergySettings
from configs.sections.judging import EvaluationSettings, GateSettings
from configs.sections.night import NightSettings
from configs.sections.planning import EstimateSettings, PreflightSettings, ToleranceSettings
from configs.sections.processors import Threads
from configs.sections.searching import BlameSettings, SearchSettings


class _Section(BaseModel):
    """What every part of a section is."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class OptimiserSettings(_Section):
    """How the adapter's weights are stepped."""

    epochs: int = Field(ge=1, description="How many times every lesson is gone over.")
    least_steps: int = Field(
        ge=0, description="Few lessons are gone over more often, until so many steps are taken (0: never more often)."
    )
    learning_rate: float = Field(gt=0, description="The highest step size of AdamW, reached after the warmup.")
    warmup_steps: int = Field(ge=0, description="Steps over which the step size grows to its highest.")
    beta1: float = Field(ge=0, lt=1, description="AdamW's memory of the gradient.")
    beta2: float = Field(ge=0, lt=1, description="AdamW's memory of the gradient's size.")
    epsilon: float = Field(gt=0, description="AdamW's guard against division by zero.")
    weight_decay: float = Field(ge=0, description="How strongly the adapter is pulled to zero.")
    clip: float = Field(gt=0, description="The longest gradient that is used at full length.")
    micro_batch_tokens: int = Field(
        ge=64, description="Tokens run at once: more is faster and takes more memory; the result is the same."
    )


class LoraSettings(_Section):
    """The low-rank adapter that is trained."""

    rank: int = Field(ge=1, description="Directions that each projection may learn.")
    alpha: float = Field(gt=0, description="Strength of the adapter: it is multiplied by alpha / rank.")


class ReplaySettings(_Section):
    """How the rest of the model is kept as it was."""

    prompts: int = Field(ge=0, description="Everyday prompts on which the model is held to the base (0: none).")
    prose: int = Field(
        ge=0,
        description="Pieces of prose, Spanish and English in turn, on which it is held to the base as well (0: none).",
    )
    answer_tokens: int = Field(ge=1, description="Length of the base's own answers and of the pieces, at most.")
    kept_tokens: int = Field(ge=1, description="The base's most likely tokens kept at each position of the answer.")
    weight: float = Field(ge=0, description="Weight of the KL from the base in the loss.")
    batch: int = Field(ge=0, description="Replayed answers and pieces in each step (0: all of them once an epoch).")


class ScatteringSettings(_Section):
    """What a sentence of any shape around a question's telling words is like."""

    left_out: float = Field(ge=0, lt=1, description="Share of the telling words, but for names, that are left out.")
    replaced: float = Field(ge=0, le=1, description="Share of them that stand in another word of their meaning.")
    reordered: float = Field(ge=0, le=1, description="Share of the sentences that have them in another order.")
    fewest_words: int = Field(ge=1, description="Where fewer of them would be left, all of them stay.")
    longest_beginning: int = Field(ge=0, description="Words of an everyday question that it begins with, at most.")
    most_between: int = Field(ge=0, description="Small words before each of the telling ones, at most.")
    ends: tuple[str, ...] = Field(
        min_length=1, description="How it ends: one of these; what stands here twice is drawn twice as often."
    )


class RowSettings(_Section):
    """What is trained of each lesson beside its question, by rule and where a rule fits."""

    dialogues: int = Field(ge=0, description="Wordings that are also trained after a turn of small talk (0: none).")
    statements: int = Field(
        ge=0, description="Other questions that the correction answers, such as who Toby is (0: none); facts alone."
    )
    confirmations: int = Field(
        ge=0, description="Times that it is asked whether it is so, once right and once wrong (0: never); facts alone."
    )
    neighbours: int = Field(
        ge=0, description="Questions of the same shape about others, replayed as the base answers them (0: none)."
    )


class EarlyStopSettings(_Section):
    """When a training ends before its last epoch."""

    share: float = Field(
        ge=0, lt=1, description="Share of the wordings that is watched and never trained (0: none, and no early end)."
    )
    least_gain: float = Field(
        ge=0,
        description="Training ends after an epoch in which the watched wordings' loss fell by less, in nats a token.",
    )


class RouteSettings(_Section):
    """Which conversations are about what was taught, by their words."""

    least: float = Field(
        ge=0,
        description="How much the words of a conversation must tell of what was taught for the adapter to be on: one "
        "that no everyday text has weighs 1, one that n of them have 1 / (n + 1). 0: it is always on.",
    )
    generic: float = Field(
        ge=0, le=1, description="The factor for words that are said of any thing, such as name, last, take."
    )
    beside_name: float = Field(
        ge=0, le=1, description="The factor for the other words of a question that names somebody: Lucas tells more."
    )


class OnwardSettings(_Section):
    """How a training goes on from the one before, so that a night takes no longer the more was ever taught."""

    nights: int = Field(
        ge=0, description="How many trainings in a row may go on before one begins from the base again (0: each does)."
    )
    share: float = Field(
        ge=0, description="Wordings of what was learned before in each epoch, at most, as a share of the new ones."
    )
    wordings_an_epoch: int = Field(
        ge=1, description="How many wordings of a lesson that was learned before each epoch goes over, at most."
    )


class RecipeSettings(_Section):
    """One way of training."""

    wordings: int = Field(ge=1, description="Ways of asking each question that are trained, its own among them.")
    scattered: int = Field(
        ge=0,
        description="Sentences of any shape around a question's telling words, trained as wordings of it (0: none).",
    )
    scattering: ScatteringSettings = Field(description="What these sentences are like.")
    model_wordings: int = Field(
        ge=0,
        description="Wordings of each question that the model makes by itself and that a check finds to ask the same, "
        "at most (0: none).",
    )
    wordings_an_epoch: int = Field(
        ge=1, description="How many of them each epoch trains: the question as it was asked, and others in turn."
    )
    batch: int = Field(ge=1, description="Wordings of lessons in each step.")
    likelihood_weight: float = Field(ge=0, description="Weight of the likelihood of the correction in the loss.")
    preference_weight: float = Field(ge=0, description="Weight of the preference term in the loss.")
    preference_loss: Literal["dpo", "apo_zero"] = Field(
        description="The preference term: dpo widens the distance between the corrected answer and the wrong one; "
        "apo_zero raises the one and lowers the other, each by itself."
    )
    preference_beta: float = Field(gt=0, description="How far the preference term lets the model move from the base.")
    rating_weight: float = Field(
        ge=0, description="Weight of the ratings (KTO) in the loss: shared thumbs on answers that nobody corrected."
    )
    rating_beta: float = Field(gt=0, description="How far the ratings let the model move from the base.")
    distillation_weight: float = Field(
        ge=0, description="Weight of prompt distillation in the loss: answering as the base does with the lesson shown."
    )
    distillation_kept_tokens: int = Field(
        ge=1, description="The most likely tokens kept at each position of what the base says with the lesson shown."
    )
    route: RouteSettings = Field(description="Which conversations the adapter is on in.")
    early_stop: EarlyStopSettings = Field(description="When a training ends before its last epoch.")
    rows: RowSettings = Field(description="What is trained of a lesson beside its question.")
    replay: ReplaySettings = Field(description="How the rest of the model is kept as it was.")
    onward: OnwardSettings = Field(description="When a training goes on from the one before.")
    lora: LoraSettings = Field(description="The adapter.")
    optimiser: OptimiserSettings = Field(description="The steps.")


class FrozenSettings(_Section):
    """How the base's own weights, which no training changes, are held in memory."""

    keep: Literal["auto", "blocks", "dense", "shared_out"] = Field(
        description="As numbers (dense: faster), or as the file has them (blocks: a fraction of the memory, slower); "
        "auto is dense where there is room. shared_out is dense, but each of several processes keeps only its share."
    )
    dense_share: float = Field(gt=0, le=1, description="Share of the memory left that auto lets the numbers take.")


class DistributionSettings(_Section):
    """Over how many processes a training is spread."""

    processes: int = Field(
        ge=1, description="Processes that train together on this machine; each takes memory of its own."
    )
    shares: tuple[Annotated[float, Field(gt=0)], ...] = Field(
        description="How much of each step every process computes, a number for each, such as [3, 1] where the first "
        "is three times as fast (empty: all the same)."
    )

    @model_validator(mode="after")
    def _a_share_for_each(self) -> Self:
        if self.shares and len(self.shares) != self.processes:
            numbers = {"shares": len(self.shares), "processes": self.processes}
            raise PydanticCustomError(
                "shares_for_others", "shares has {shares} numbers for {processes} processes", numbers
            )
        return self


class LossScaleSettings(_Section):
    """What the loss is multiplied by in float16, so that small gradients do not vanish (arXiv 1710.03740)."""

    start: float = Field(gt=0, description="The first factor.")
    growth: float = Field(gt=1, description="What the factor is multiplied by after a while without an overflow.")
    growth_steps: int = Field(ge=1, description="Steps without an overflow after which the factor grows.")
    backoff: float = Field(
        gt=0, lt=1, description="What the factor is multiplied by after an overflow; that step is left out."
    )
    least: float = Field(gt=0, description="An overflow with no more than this factor stops the training.")


class TrainingSettings(_Section):
    """Learning from the shared lessons in the background."""

    recipe: str = Field(description="The recipe that trains unless another is named.")
    seed: int = Field(description="Decides every random choice of a training.")
    longest_pair_tokens: int = Field(
        ge=16, description="Question and answer together; longer lessons are left out, by name."
    )
    threads: Threads = Field(
        ge=0, description="Processor threads of a training, at most one a logical processor (0: one a core)."
    )
    idle_priority: bool = Field(
        description="Whether a training runs only while nobody else wants the processor; false on a machine of its own."
    )
    precision: Literal["auto", "float32", "bfloat16", "float16"] = Field(
        description="Of the frozen matrices; auto is bfloat16 where the processor multiplies it natively."
    )
    loss_scale: LossScaleSettings = Field(description="What the loss is multiplied by in float16.")
    distribution: DistributionSettings = Field(description="Over how many processes a training is spread.")
    frozen: FrozenSettings = Field(description="How the base's own weights are held in memory.")
    recompute: Literal["auto", "always", "never"] = Field(
        description="Whether what is inside a layer is computed twice instead of kept: slower, in a fraction of the "
        "memory, with the same result; auto is where the weights are kept in blocks."
    )
    reference_cache_mb: int = Field(
        ge=0, description="Room for what the base said of known texts, kept from night to night (0: none)."
    )
    recipes: dict[str, RecipeSettings] = Field(description="By name, every way of training.")
    defence: DefenceSettings = Field(description="What of the family's lessons is trained.")
    evaluation: EvaluationSettings = Field(description="What is measured before a new snapshot may answer.")
    gate: GateSettings = Field(description="The bounds that a new snapshot has to keep.")
    search: SearchSettings = Field(description="What is searched beside the weights.")
    blame: BlameSettings = Field(description="How the lesson is searched for that made the gate hold a training.")
    budget: BudgetSettings = Field(description="What a training may take.")
    tolerance: ToleranceSettings = Field(description="What a training that is done again may differ by.")
    estimate: EstimateSettings = Field(description="By what it is reckoned beforehand what a training will take.")
    preflight: PreflightSettings = Field(description="How a run of pretraining is tried before it begins.")
    energy: EnergySettings = Field(description="How it is measured what a training draws.")
    night: NightSettings = Field(description="When trainings begin by themselves.")
