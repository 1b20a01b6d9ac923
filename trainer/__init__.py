"""Pairs and text in, weights out: model, objectives, one loop, export, gate, the supervised run."""
