"""A backup of a whole home: what goes into it, its form, and how it is made, checked and put back."""
