"""The command's groups, one file each. Every file has ``register(commands)``, which adds its commands."""
