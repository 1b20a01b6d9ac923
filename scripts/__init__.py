"""Helpers for those who build Enlace: set-up, the lock, pages written by code."""
