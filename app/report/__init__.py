"""What a training did, told from its run's files: on a terminal, as Markdown, and as a picture."""
