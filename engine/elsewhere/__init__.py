"""Answers from a server that the family runs itself: llama-server, vLLM or Ollama."""
