"""Losses, one file each, behind one interface."""
