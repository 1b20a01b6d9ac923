"""Weights in, tokens out."""
