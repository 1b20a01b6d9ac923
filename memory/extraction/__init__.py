"""What follows from a message: statements, the patterns that they are held against, and whom they are about."""
