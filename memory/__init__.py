"""What the family said."""
