"""Run in the peer environment ``xllamacpp``: its HTTP server on a loopback port, until standard input closes.

    python xllamacpp_server.py MODEL.gguf THREADS CONTEXT SLOTS

Prints the address when it answers.
"""

import sys

import xllamacpp


def main(model: str, threads: int, context: int, slots: int) -> None:
    """Serve ``model``, with room for ``context`` tokens in every slot."""
    parameters = xllamacpp.CommonParams()
    parameters.model.path = model
    parameters.n_ctx = context * slots
    parameters.n_parallel = slots
    parameters.cpuparams.n_threads = threads
    parameters.cpuparams_batch.n_threads = threads
    server = xllamacpp.Server(parameters)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
