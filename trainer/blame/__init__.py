"""Which lesson makes the gate hold a run: told by trainings without some of the lessons, of which nothing is used."""
