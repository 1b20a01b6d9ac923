"""Files of every format turned into text with places in it. Runs in a process that may be killed at any moment."""
