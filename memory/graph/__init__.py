"""Who and what the documents speak of, and how it belongs together."""
