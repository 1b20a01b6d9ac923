"""How many threads a setting may ask for; a part of the sections ``engine`` and ``training``."""

from __future__ import annotations

import os
from typing import Annotated

from pydantic import AfterValidator, ValidationInfo
from pydantic_core import PydanticCustomError

# What settings are read with where this machine is to work by them, and not to look at what another one did.
TO_WORK_BY = {"to_work_by": True}


def _at_most_processors(threads: int, info: ValidationInfo) -> int:
    # More take turns at each step, all of which wait for the last one; of very many, native code dies.
    if info.context == TO_WORK_BY and threads > (processors := os.cpu_count() or 1):
        asked = "this machine has {processors} logical processors"
        raise PydanticCustomError("more_threads_than_processors", asked, {"processors": processors})
    return threads


Threads = Annotated[int, AfterValidator(_at_most_processors)]
