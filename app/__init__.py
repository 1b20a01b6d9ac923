"""What people touch: the command, the interface, the headless assistant."""
