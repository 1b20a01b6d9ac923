"""A search in a process of its own: ``python -m tools.search_worker``, one JSON object in, one out.

ddgs and the libraries under it are heavy, run threads of their own and cannot be interrupted; here they can be killed
at any instant, and whoever asks loads none of them. Services are asked one after the other until there are enough
results, so that no more of them than needed learn the question.
"""

from __future__ import annotations

import json
import sys
from typing import Any, Final

from ddgs.engines import ENGINES
from ddgs.exceptions import DDGSException, TimeoutException
from ddgs.http_client import HttpClient, Response

# DuckDuckGo answers 202 where others answer 429; 403 and 418 are how the rest say the same.
_REFUSALS: Final = frozenset({202, 403, 418, 429, 503})


class _WatchedClient(HttpClient):
    """ddgs turns every answer that is not 200 into "no results"; this one remembers what it was."""

    def __init__(self, inner: HttpClient) -> None:
        self.client = inner.client
        self.status = 0

    def request(self, *args: Any, **kwargs: Any) -> Response:
        response = super().request(*args, **kwargs)
        self.status = response.status_code
        return response


def ask(backend: str, request: dict[str, Any]) -> dict[str, Any]:
    """One service's answer: ``outcome`` is found, nothing, refused, timeout, unreachable or unknown."""
    engine_class = ENGINES["text"].get(backend)
    if engine_class is None:
        return {"outcome": "unknown", "reason": backend}
    engine = engine_class(timeout=request["timeout_s"])
    engine.http_client = watched = _WatchedClient(engine.http_client)
    if backend in request["addresses"]:
        engine.search_url = request["addresses"][backend]
    try:
        found = engine.search(request["query"], region=request["region"], safesearch=request["safe_search"]) or []
    except TimeoutException:
        return {"outcome": "timeout"}
    except DDGSException as error:
        return {"outcome": "unreachable", "reason": str(error)}
    except Exception as error:
        # A page of another shape than the service's usual one makes its parser fail in any way at all.
        return {"outcome": "unreadable", "reason": f"{type(error).__name__}: {error}"}
    if watched.status in _REFUSALS:
        return {"outcome": "refused"}
    results = [{"title": result.title, "url": result.href, "excerpt": result.body} for result in found]
    return {"outcome": "found" if results else "nothing", "results": results}


def main() -> None:
    """Read the request from stdin, ask service after service, write every answer to stdout."""
    request = json.load(sys.stdin)
    answers: dict[str, dict[str, Any]] = {}
    found = 0
    for backend in request["backends"]:
        answers[backend] = ask(backend, request)
        found += len(answers[backend].get("results", []))
        if found >= request["most_results"]:
            break
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()
