"""Run in the peer environment ``xllamacpp``: its HTTP server on a loopback port, until standard input closes.

    python xllamacpp_server.py MODEL.gguf THREADS CONTEXT

Prints the address when it answers.
"""

import sys

import xllamacpp


def main(model: str, threads: int, context: int) -> None:
    """Serve ``model`` with one slot, which gives one reader all there is."""
    parameters = xllamacpp.CommonParams()
    parameters.model.path = model
    parameters.n_ctx = context
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = threads
    parameters.cpuparams_batch.n_threads = threads
    server = xllamacpp.Server(parameters)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
