"""Every number of the project: YAML layers and the loader that validates them."""
