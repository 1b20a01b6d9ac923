"""Documents of the family: which there are, what they say, and that each is read once."""
