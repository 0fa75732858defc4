"""How a converter says that it cannot convert a node."""

from __future__ import annotations


class Unsupported(Exception):
    """The model is sound, but this node has no counterpart in Weft. The importer collects these and goes on."""

    def __init__(self, reason: str, hint: str | None = None):
        super().__init__(reason)
        self.reason = reason
        self.hint = hint


class Malformed(Exception):
    """The model is not sound at this node. The importer turns it into a diagnostic placed there."""

    def __init__(self, message: str, hint: str | None = None):
        super().__init__(message)
        self.message = message
        self.hint = hint
