"""Who may see a fact or a lesson: the member whose it is alone, or the whole household."""

from __future__ import annotations

from typing import Literal

Visibility = Literal["private", "shared"]
