"""The numbers of a recipe that are searched, and the recipe with other ones."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from configs.sections.training import RecipeSettings


@dataclass(frozen=True)
class Choice:
    """One choice of these numbers."""

    learning_rate: float
    epochs: int
    rank: int

    @staticmethod
    def of(recipe: RecipeSettings) -> Choice:
        """Those that the recipe has."""
        return Choice(recipe.optimiser.learning_rate, recipe.optimiser.epochs, recipe.lora.rank)

    def as_json(self) -> dict[str, Any]:
        """For files and events; ``Choice(**value)`` reads it back."""
        return asdict(self)

    def put_in(self, recipe: RecipeSettings) -> RecipeSettings:
        """The recipe with these numbers. The adapter's strength, alpha / rank, stays; and the fewest steps are as many
        more or fewer as the epochs, or else a training of few lessons would be the same for any number of them.
        """
        optimiser, lora = recipe.optimiser, recipe.lora
        least = round(optimiser.least_steps * self.epochs / optimiser.epochs)
        steps = {"learning_rate": self.learning_rate, "epochs": self.epochs, "least_steps": least}
        strength = {"rank": self.rank, "alpha": lora.alpha * self.rank / lora.rank}
        changes = {"optimiser": optimiser.model_copy(update=steps), "lora": lora.model_copy(update=strength)}
        return recipe.model_copy(update=changes)
