"""What the assistant can do."""
