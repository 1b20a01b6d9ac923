"""What a training consists of: typed stages, the graph that they make, and what each of them depends on."""
