from __future__ import annotations

import json

from benchmarks.rows import as_json, as_table, row

MACHINE = {"processor": "a processor", "cores": 2}
KEYS = {"name", "value", "unit", "peer", "peer_value", "ratio", "bound", "ok"}


def test_the_json_has_the_machine_and_rows_with_every_promised_key() -> None:
    printed = json.loads(as_json(MACHINE, [row("answer", 1.0, "s", peer="llm", peer_value=4.0, bound=0.4)]))
    assert printed["machine"] == MACHINE
    assert set(printed["rows"][0]) >= KEYS
    assert printed["rows"][0]["ratio"] == 0.25
    assert printed["rows"][0]["ok"] is True


def test_a_ratio_over_its_bound_is_not_ok() -> None:
    assert row("answer", 2.0, "s", peer="llm", peer_value=4.0, bound=0.4).ok is False


def test_a_ratio_of_speeds_has_to_reach_its_bound() -> None:
    def speed(value: float) -> bool | None:
        return row("writing", value, "tokens/s", peer="x", peer_value=100.0, bound=0.9, better="higher").ok

    assert (speed(89.0), speed(90.0)) == (False, True)


def test_a_bound_on_the_value_needs_no_peer() -> None:
    assert row("delay", 49.0, "ms", bound=50.0, bound_on="value").ok is True
    assert row("delay", 51.0, "ms", bound=50.0, bound_on="value").ok is False


def test_without_the_peer_there_is_neither_ratio_nor_verdict() -> None:
    alone = row("answer", 1.0, "s", peer="llm", bound=0.4, note="The peer llm could not be installed.")
    assert (alone.ratio, alone.ok) == (None, None)
    assert "could not be installed" in as_table(MACHINE, [alone])


def test_without_a_bound_nothing_is_judged() -> None:
    assert row("answer", 9.0, "s", peer="llm", peer_value=1.0).ok is None


def test_the_table_says_which_bound_was_not_held() -> None:
    table = as_table(MACHINE, [row("answer", 2.0, "s", peer="llm", peer_value=4.0, bound=0.4), row("other", 1.0, "s")])
    lines = {line.split("  ")[0]: line for line in table.splitlines()}
    assert "NOT HELD" in lines["answer"]
    assert "≤ 0.4 ×" in lines["answer"]
    assert "NOT HELD" not in lines["other"]
