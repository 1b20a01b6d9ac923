"""The form in which a model is served: which there are, what each loses and gains, and which one is kept."""
