"""A terminal that goes away takes nothing more, and stops nobody."""

from __future__ import annotations

import io
import os
import pty

from app.interface.terminal_driver import Outlet


def test_what_is_written_to_a_closed_terminal_is_dropped() -> None:
    master, slave = pty.openpty()
    # Unbuffered, so that nothing is left over for the file's own end to write.
    with io.TextIOWrapper(io.FileIO(slave, "w"), write_through=True) as terminal:
        outlet = Outlet(terminal)
        outlet.write("before\n")
        outlet.flush()
        assert b"before" in os.read(master, 100)
        os.close(master)
        for _ in range(100):
            assert outlet.write("after\n") == len("after\n")
            outlet.flush()
        assert outlet.gone
