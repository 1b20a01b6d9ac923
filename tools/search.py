"""The search of the web: what may leave the house, what is remembered, and what the services' answers mean."""

from __future__ import annotations

import asyncio
import json
import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from configs.sections.tools import SearchSettings
from tools.errors import (
    SearchFailed,
    SearchFoundNothing,
    SearchOff,
    SearchOffline,
    SearchRefused,
    SearchTimedOut,
    ToolError,
)
from tools.page_text import clean_page_text, cut_at_word, web_address
from tools.registry import Source, ToolContext, ToolResult
from tools.search_store import Found, SearchStore

_ROOT: Final = Path(__file__).resolve().parent.parent
_LONGEST_TITLE: Final = 120
_SECONDS_PER_MINUTE: Final = 60


async def web_search(query: str, *, context: ToolContext) -> ToolResult:
    """Search the web and give numbered excerpts of the pages found."""
    settings = context.settings.search
    if settings.enabled == "never":
        raise SearchOff
    query = cut_at_word(clean_page_text(query, settings.longest_query * 2), settings.longest_query)
    region = settings.regions.get(context.phrases.language, "wt-wt")
    store = SearchStore(context.home.search_db, settings, context.clock)
    asked = json.dumps([query.casefold(), region, settings.safe_search])
    found = store.cached(asked)
    if found is None:
        found = await _ask_services(query, region, settings, store)
        store.keep(asked, found)
    return _numbered(found)


async def _ask_services(query: str, region: str, settings: SearchSettings, store: SearchStore) -> tuple[Found, ...]:
    pauses = store.pauses()
    backends = [backend for backend in settings.backends if backend not in pauses]
    if not backends:
        raise SearchRefused(minutes=math.ceil(min(pauses.values()) / _SECONDS_PER_MINUTE))
    request = {
        "query": query,
        "region": region,
        "backends": backends,
        "addresses": settings.addresses,
        "safe_search": settings.safe_search,
        "most_results": settings.most_results,
        "timeout_s": settings.timeout_s,
    }
    answers = await _run_worker(request, settings.total_timeout_s)
    for backend, answer in answers.items():
        if answer["outcome"] == "refused":
            store.refused(backend)
        elif answer["outcome"] in ("found", "nothing"):
            store.answered(backend)
    found = _cleaned(answers, settings)
    if not found:
        raise _why_nothing(query, answers, settings, store)
    return found


async def _run_worker(request: Mapping[str, Any], timeout_s: float) -> dict[str, dict[str, Any]]:
    """The worker's answers by service. It is killed when time is up or when whoever asked has stopped."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tools.search_worker",
        # Python looks for modules where it is started, and a person may well be in a folder with other "tools".
        cwd=_ROOT,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(timeout_s):
            output, complaint = await process.communicate(json.dumps(request).encode())
    except TimeoutError as error:
        raise SearchTimedOut(seconds=round(timeout_s)) from error
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode != 0:
        lines = complaint.decode(errors="replace").strip().splitlines()
        raise SearchFailed(reason=lines[-1] if lines else f"exit {process.returncode}")
    answers: dict[str, dict[str, Any]] = json.loads(output)
    return answers


def _cleaned(answers: Mapping[str, Mapping[str, Any]], settings: SearchSettings) -> tuple[Found, ...]:
    """The first results of all services that have an address and say something, each address once."""
    found: dict[str, Found] = {}
    for answer in answers.values():
        for result in answer.get("results", []):
            url = web_address(str(result["url"]))
            title = clean_page_text(str(result["title"]), _LONGEST_TITLE)
            excerpt = clean_page_text(str(result["excerpt"]), settings.snippet_length)
            if url and (title or excerpt):
                found.setdefault(url, Found(title or url, url, excerpt))
    return tuple(found.values())[: settings.most_results]


def _why_nothing(
    query: str, answers: Mapping[str, Mapping[str, Any]], settings: SearchSettings, store: SearchStore
) -> ToolError:
    """The error that says best why there is no result: a service that searched in vain outweighs one that refused."""
    outcomes = {answer["outcome"] for answer in answers.values()}
    if "nothing" in outcomes or "found" in outcomes:
        return SearchFoundNothing(query=query)
    if "refused" in outcomes:
        pauses = store.pauses()
        return SearchRefused(minutes=math.ceil(min(pauses.values(), default=0) / _SECONDS_PER_MINUTE))
    if "timeout" in outcomes:
        return SearchTimedOut(seconds=round(settings.timeout_s))
    if "unreachable" in outcomes:
        return SearchOffline()
    reasons = [str(answer.get("reason", answer["outcome"])) for answer in answers.values()]
    return SearchFailed(reason="; ".join(reasons))


def _numbered(found: Sequence[Found]) -> ToolResult:
    lines = [f"[{number}] {entry.title}: {entry.excerpt}" for number, entry in enumerate(found, 1)]
    sources = tuple(Source(number, entry.title, entry.url) for number, entry in enumerate(found, 1))
    return ToolResult("\n".join(lines), sources)
