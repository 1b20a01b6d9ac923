"""Whatever the server and the network do: what is pulled ends whole and right, or in an error with nothing left."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.pulling.errors import (
    AddressWrong,
    HubRefused,
    HubUnreachable,
    PullDamaged,
)
from engine.pulling.events import Restarted, Retrying
from engine.pulling.source import Source
from tests.engine.pulling.conftest import Puller, in_place
from tests.engine.pulling.hub import Hub, small_model


def test_a_connection_that_drops_ten_times_costs_no_byte_twice(puller: Puller, hub: Hub, model: bytes) -> None:
    hub.drops = 10
    puller()
    assert in_place(puller, model)
    assert len(puller.told(Retrying)) == 10
    assert hub.sent <= len(model) + 10 * 65536


@pytest.mark.parametrize("linked", [True, False])
@pytest.mark.parametrize("lie", [0.5, 0.9, 1.5])
def test_a_false_length_ends_right_or_in_an_error_and_leaves_no_bad_file(
    puller: Puller, hub: Hub, model: bytes, lie: float, linked: bool
) -> None:
    hub.length_is, hub.ranges, hub.claims_ranges, hub.linked = lie, False, False, linked
    with pytest.raises((PullDamaged, HubUnreachable)):
        puller()
    assert "model.gguf" not in puller.files()
    hub.length_is, hub.ranges, hub.claims_ranges = 1.0, True, True
    puller()
    assert in_place(puller, model)


@pytest.mark.parametrize("lie", [0.5, 1.5])
def test_a_false_length_of_the_parts_does_no_harm(puller: Puller, hub: Hub, model: bytes, lie: float) -> None:
    hub.length_is = lie
    puller()
    assert in_place(puller, model)


@pytest.mark.parametrize("claims", [True, False])
@pytest.mark.parametrize("drops", [0, 2])
def test_a_server_that_ignores_ranges_gives_the_file_in_one_go(
    puller: Puller, hub: Hub, model: bytes, claims: bool, drops: int
) -> None:
    hub.ranges, hub.claims_ranges, hub.drops, hub.drop_after = False, claims, drops, 2_000_000
    puller()
    assert in_place(puller, model)


def test_a_file_of_unknown_length_is_taken_to_its_end(puller: Puller, hub: Hub, model: bytes) -> None:
    hub.chunked, hub.ranges, hub.claims_ranges, hub.linked, hub.etag = True, False, False, False, False
    pulled = puller()
    assert in_place(puller, model)
    assert not pulled.verified


@pytest.mark.parametrize("linked", [True, False])
def test_a_file_that_changes_in_between_is_never_mixed(puller: Puller, hub: Hub, other: bytes, linked: bool) -> None:
    def change() -> None:
        hub.content = other

    hub.linked = linked
    hub.on_body = [*[lambda: None] * 20, change]
    puller()
    assert in_place(puller, other)


def test_a_file_that_changes_between_two_tries_is_begun_again(
    puller: Puller, hub: Hub, model: bytes, other: bytes
) -> None:
    hub.linked, hub.drops = False, 100
    with pytest.raises(HubUnreachable):
        puller(attempts=1)
    assert puller.files() == ["model.gguf.part", "model.gguf.part.json"]
    hub.content, hub.drops = other, 0
    puller()
    assert in_place(puller, other)
    assert puller.told(Restarted) == [Restarted("changed")]


@pytest.mark.parametrize("times", [1, 2])
def test_corrupt_bytes_are_found_and_fetched_again(puller: Puller, hub: Hub, model: bytes, times: int) -> None:
    hub.corrupt = times
    pulled = puller()
    assert in_place(puller, model)
    assert pulled.verified
    assert Restarted("damaged") in puller.events


def test_bytes_that_stay_corrupt_are_an_error_and_nothing_is_left(puller: Puller, hub: Hub) -> None:
    hub.corrupt = 1000
    with pytest.raises(PullDamaged) as caught:
        puller()
    assert hub.sha256 in str(caught.value.facts["reason"])
    assert puller.files() == []


def test_without_anything_that_tells_two_files_apart_nothing_is_put_together(
    puller: Puller, hub: Hub, model: bytes
) -> None:
    hub.linked, hub.etag, hub.drops, hub.drop_after = False, False, 1, 3_000_000
    puller()
    assert in_place(puller, model)
    assert all(asked.range in (None, "bytes=0-0") for asked in hub.asked)


def test_a_date_is_enough_to_go_on_by(puller: Puller, hub: Hub, model: bytes) -> None:
    hub.linked, hub.etag, hub.modified, hub.drops = False, False, "Sun, 29 Nov 2026 10:00:00 GMT", 3
    puller()
    assert in_place(puller, model)
    assert {asked.if_range for asked in hub.asked if asked.range not in (None, "bytes=0-0")} == {hub.modified}


@pytest.mark.parametrize("status", [401, 403, 404, 410])
def test_what_the_hub_refuses_is_told_at_once(puller: Puller, hub: Hub, status: int) -> None:
    hub.failures = [status]
    with pytest.raises(HubRefused) as caught:
        puller()
    assert caught.value.facts["status"] == status
    assert len(hub.asked) == 1


@pytest.mark.parametrize("status", [429, 500, 503])
def test_what_passes_is_tried_again(puller: Puller, hub: Hub, model: bytes, status: int) -> None:
    hub.failures, hub.retry_after = [status, status], "0"
    puller()
    assert in_place(puller, model)


def test_an_address_behind_a_redirect_that_has_run_out_is_asked_for_again(
    puller: Puller, hub: Hub, model: bytes
) -> None:
    def run_out() -> None:
        hub.failures.append(403)

    hub.on_body = [run_out]
    puller()
    assert in_place(puller, model)


def test_a_server_that_is_not_there_is_told_after_a_few_tries(puller: Puller) -> None:
    with pytest.raises(HubUnreachable):
        puller(Source("model", "http://127.0.0.1:9/model.gguf"))
    assert len(puller.told(Retrying)) == 2


def test_a_page_instead_of_a_model_is_told_before_it_is_read_to_its_end(puller: Puller, hub: Hub) -> None:
    hub.content = b"<!doctype html><title>Log in</title>" + b" " * 30_000_000
    with pytest.raises(PullDamaged) as caught:
        puller()
    assert "GGUF" in str(caught.value.facts["reason"])
    assert hub.sent < 25_000_000
    assert puller.files() == []


def test_a_file_that_is_truncated_at_its_source_or_no_model_is_refused(
    puller: Puller, hub: Hub, model: bytes, tmp_path: Path
) -> None:
    for content in (model[:-1000], small_model(tmp_path / "adapter.gguf", megabytes=1, kind="adapter"), b"GGUF", b""):
        hub.content = content
        with pytest.raises(PullDamaged):
            puller()
        assert puller.files() == []


@pytest.mark.parametrize(
    "location", ["ftp://127.0.0.1/x.gguf", "file:///etc/passwd", "/owner/model-GGUF/resolve/main/model.gguf"]
)
def test_a_redirect_that_leads_nowhere_good_is_refused(puller: Puller, hub: Hub, location: str) -> None:
    hub.location = location
    with pytest.raises(AddressWrong):
        puller()
