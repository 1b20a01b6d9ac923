"""A command that has to wait for what the engine is doing says what it waits for."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

from app.commands.output import remark
from app.going_back import answers_in_flight

if TYPE_CHECKING:
    from app.catalogue import Catalogue
    from engine.interface import Engine

T = TypeVar("T")


def wait_for(work: Coroutine[Any, Any, T], engine: Engine, words: Catalogue, look_s: float) -> T:
    """What comes of ``work``; every ``look_s`` seconds until then, how many answers of ``engine`` it waits for.

    On the standard error, and only when there is something new to say. Raises what ``work`` raises.
    """
    return asyncio.run(_wait_for(work, engine, words, look_s))


async def _wait_for(work: Coroutine[Any, Any, T], engine: Engine, words: Catalogue, look_s: float) -> T:
    working, said = asyncio.ensure_future(work), 0
    while not (await asyncio.wait({working}, timeout=look_s))[0]:
        answers = await answers_in_flight(engine)
        if answers and answers != said and not working.done():
            remark(words.count("command.engine.waits_for", answers))
            said = answers
    return working.result()
