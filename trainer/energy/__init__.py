"""What the machine draws for a training, in joules: measured where something measures it, and else reckoned."""
