"""The group ``model`` of a run: the shape of its decoder; files in ``configs/shapes``."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

# Ids are 32-bit integers with a sign in a GGUF and in llama.cpp.
MOST_TOKENS = 2**31 - 1


class Shape(BaseModel):
    """A decoder as llama.cpp's architecture qwen3 has it: grouped queries, QK-norm, tied embeddings."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    layers: int = Field(ge=1, description="Blocks of attention and feed-forward.")
    width: int = Field(ge=1, description="Numbers that stand for a token between the blocks.")
    heads: int = Field(ge=1, description="Heads that ask.")
    kv_heads: int = Field(ge=1, description="Heads that are asked, each by as many of the others.")
    head_size: int = Field(ge=2, description="Numbers in a head; even, since RoPE turns them in pairs.")
    feed_forward: int = Field(ge=1, description="Width of the gated feed-forward part.")
    vocabulary: int = Field(ge=257, le=MOST_TOKENS, description="Tokens there are, special ones among them.")
    context: int = Field(ge=2, description="Tokens of a training sequence, and the longest that the model sees.")
    rope_base: float = Field(gt=1, description="Base of RoPE's angles; larger for longer contexts.")
    norm_epsilon: float = Field(gt=0, description="RMSNorm's guard against division by zero.")
    initial_std: float = Field(gt=0, description="Spread of the initial weights.")

    @property
    def parameters(self) -> int:
        """All trained weights; the embedding counts once, since it is tied."""
        attention = self.width * self.head_size * 2 * (self.heads + self.kv_heads)
        norms = 2 * self.width + 2 * self.head_size
        layer = attention + 3 * self.width * self.feed_forward + norms
        return self.layers * layer + self.vocabulary * self.width + self.width
