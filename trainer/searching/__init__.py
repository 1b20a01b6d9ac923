"""Learning rate, epochs and rank searched inside a run, around what last worked for this base."""
