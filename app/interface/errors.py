"""What ends the interface."""

from __future__ import annotations

from configs.errors import EnlaceError


class MemberGone(EnlaceError):
    """Whoever the interface is open for was removed from the household meanwhile. facts: name."""

    code = "member_gone"
