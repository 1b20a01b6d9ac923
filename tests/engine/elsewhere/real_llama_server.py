"""Run in the peer environment ``xllamacpp``: llama.cpp's own server, told what to do by llama-server's options.

Prints its address when it answers, and ends when its standard input closes.
"""

import argparse
import sys

import xllamacpp


def main() -> None:
    """Serve until nobody wants it any more."""
    options = argparse.ArgumentParser()
    options.add_argument("--host")
    options.add_argument("--port")
    options.add_argument("--model", required=True)
    options.add_argument("--ctx-size", type=int, required=True)
    options.add_argument("--parallel", type=int, required=True)
    options.add_argument("--lora", action="append", default=[])
    options.add_argument("--lora-scaled", action="append", default=[])
    said = options.parse_args()
    parameters = xllamacpp.CommonParams()
    parameters.model.path = said.model
    parameters.n_ctx, parameters.n_parallel = said.ctx_size, said.parallel
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 2
    scaled = [(path, float(scale)) for path, _, scale in (each.rpartition(":") for each in said.lora_scaled)]
    adapters = [*((path, 1.0) for path in said.lora), *scaled]
    parameters.lora_adapters = [xllamacpp.CommonAdapterLoraInfo(path, scale) for path, scale in adapters]
    server = xllamacpp.Server(parameters)
    print(server.listening_address, flush=True)  # noqa: T201 - whoever started it reads this
    sys.stdin.read()


main()
