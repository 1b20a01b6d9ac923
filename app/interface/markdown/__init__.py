"""Markdown as lines of a terminal, laid out as it arrives: finished parts once, the open part within bounds."""
