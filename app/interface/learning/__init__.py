"""What was learned: lessons, trainings and snapshots."""
