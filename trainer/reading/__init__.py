"""The night's first phase: documents of the family are read, and what they say goes into the graph."""
