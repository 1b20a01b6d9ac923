"""Other ways of asking a question: those that are trained, and, by another generator, those that only measure."""
