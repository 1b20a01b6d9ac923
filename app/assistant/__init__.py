"""The headless assistant: one turn of a conversation as a stream of events."""
