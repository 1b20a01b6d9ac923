"""The one decoder: llama, qwen2, qwen3 and gemma3 shapes from one config, over packed trees of tokens."""

from __future__ import annotations

import torch

from trainer.model.config import DecoderConfig
from trainer.model.kernels import Attention, AttentionPlan, GatedUnit, LoraLinear, RmsNorm, TargetLogProbs
from trainer.model.lora import LoraAdapter
from trainer.model.reading import BaseWeights, LayerWeights
from trainer.packing import Pack


class Decoder:
    """A frozen base and, where given, the adapter that is trained on it."""

    def __init__(self, base: BaseWeights, adapter: LoraAdapter | None = None) -> None:
        self.base = base
        self.config: DecoderConfig = base.config
        self.adapter = adapter
        self.dtype = base.layers[0].qkv.dtype

    def hidden(self, pack: Pack) -> torch.Tensor:
        """The normed last state of the rows that ``pack`` asks about: [rows, width], float32."""
        config = self.config
        x = self.base.embedding.index_select(0, pack.tokens)
        if config.embedding_scale != 1.0:
            x = x * config.embedding_scale
        everywhere = self._angles(pack.positions, config.rope_base)
        nearby = self._angles(pack.positions, config.sliding_rope_base) if config.sliding_pattern else everywhere
        sliding = pack.sliding_plan(config.sliding_window) if config.sliding_window else pack.plan
        for index, layer in enumerate(self.base.layers):
            slides = config.slides(index)
            x = self._layer(index, layer, x, nearby if slides else everywhere, sliding if slides else pack.plan)
        norm: torch.Tensor = RmsNorm.apply(
            x.index_select(0, pack.rows), self.base.final_norm, config.norm_epsilon, torch.float32
        )
        return norm

    def log_probs(self, pack: Pack) -> torch.Tensor:
        """Log-probability of every (row, token) pair of ``pack``: float32 [pairs]."""
        hidden = self.hidden(pack)
        result: torch.Tensor = TargetLogProbs.apply(
            hidden, self.base.head, pack.pair_rows, pack.pair_tokens, self.dtype
        )
        return result

    def logits(self, pack: Pack) -> torch.Tensor:
        """Logits of the rows that ``pack`` asks about: float32 [rows, vocabulary]."""
        return self.hidden(pack) @ self.base.head.t()

    def _angles(self, positions: torch.Tensor, base: float) -> tuple[torch.Tensor, torch.Tensor]:
        """Cosine and sine of RoPE's angles: [tokens, 1, head_size / 2]."""
        half = self.config.head_size // 2
        frequencies = base ** (-torch.arange(half, dtype=torch.float32) / half)
        angles = positions.float().unsqueeze(1) * frequencies
        return angles.cos().unsqueeze(1), angles.sin().unsqueeze(1)

    def _product(self, index: int, name: str, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        if self.adapter is None:
            return x @ weight.t()
        a, b = self.adapter.product(index, name, self.dtype)
        out: torch.Tensor = LoraLinear.apply(x, weight, a, b, self.adapter.scale)
        return out

    def _layer(
        self,
        index: int,
        layer: LayerWeights,
        x: torch.Tensor,
        angles: tuple[torch.Tensor, torch.Tensor],
        plan: AttentionPlan,
    ) -> torch.Tensor:
        config, dtype = self.config, self.dtype
        norm = RmsNorm.apply
        epsilon = config.norm_epsilon
        tokens = x.shape[0]
        qkv = self._product(index, "qkv", norm(x, layer.attention_norm, epsilon, dtype), layer.qkv)
        if layer.qkv_bias is not None:
            qkv = qkv + layer.qkv_bias.to(dtype)
        keys = config.kv_heads * config.head_size
        query, key, value = (
            part.reshape(tokens, -1, config.head_size)
            for part in qkv.split((config.heads * config.head_size, keys, keys), dim=1)
        )
        if layer.query_norm is not None:
            query = norm(query, layer.query_norm, epsilon, dtype)
        if layer.key_norm is not None:
            key = norm(key, layer.key_norm, epsilon, dtype)
        attended = Attention.apply(query, key, value, *angles, plan, config.attention_scale)
        out = self._product(index, "output", attended, layer.output)
        if layer.post_attention_norm is not None:
            out = norm(out, layer.post_attention_norm, epsilon, dtype)
        x = x + out
        gate_up = self._product(index, "gate_up", norm(x, layer.feed_forward_norm, epsilon, dtype), layer.gate_up)
        out = self._product(index, "down", GatedUnit.apply(gate_up, config.activation), layer.down)
        if layer.post_feed_forward_norm is not None:
            out = norm(out, layer.post_feed_forward_norm, epsilon, dtype)
        return x + out
