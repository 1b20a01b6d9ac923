"""The decoder that is trained: the served GGUF's own weights, dequantised, with LoRA on seven projections."""
