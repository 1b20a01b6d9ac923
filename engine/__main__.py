"""``python -m engine serve --manifest DIGEST``: the engine in the foreground, for the home in ENLACE_HOME."""

from __future__ import annotations

import argparse
import os
import sys

from configs.home import Home


def main() -> int:
    """Serve until told to end. The exit status: 0 ended or already running, 1 could not start."""
    parser = argparse.ArgumentParser(prog="python -m engine")
    commands = parser.add_subparsers(required=True)
    serve = commands.add_parser("serve", help="answer at the home's Unix socket")
    serve.add_argument("--manifest", required=True, help="digest of the snapshot to serve")
    serve.add_argument("--report-fd", type=int, help="file descriptor that takes one line of JSON when it is ready")
    options = parser.parse_args()
    from engine.process import run

    return run(Home.find(os.environ), os.environ, options.manifest, options.report_fd)


if __name__ == "__main__":
    sys.exit(main())
