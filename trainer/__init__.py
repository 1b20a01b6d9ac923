"""Pairs and text in, weights out."""
