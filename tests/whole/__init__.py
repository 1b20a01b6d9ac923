"""The whole product, from the command line, on the real model: minutes long, run by `make soak`."""
