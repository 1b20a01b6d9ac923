"""Trainings that begin by themselves: when one is due, when it may begin, and who carries it."""
