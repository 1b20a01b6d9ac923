"""Text in, tokens out: reading, cleaning, shards, and the loaders that a pretraining reads them by. Never torch."""
