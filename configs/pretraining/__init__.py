"""A model of one's own: the schema of a run, and how one is composed of its layers."""
