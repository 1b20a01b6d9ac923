"""The chat screen and its parts."""
