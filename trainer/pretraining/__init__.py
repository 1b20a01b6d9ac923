"""A model of one's own, trained whole from text."""
