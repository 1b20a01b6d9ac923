"""Conversations that a member had elsewhere, or here before: files of other assistants and of our own."""
