"""What is trained of a lesson beside its question: statements, talks, yes and no, and what has to stay unknown."""
