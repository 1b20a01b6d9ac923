"""The stages of a run, one file each. A stage reads files, writes files, and never opens the household's database."""
