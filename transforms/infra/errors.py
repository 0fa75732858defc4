"""What goes wrong around passes, as opposed to inside one: mistakes in how passes are asked for."""

from __future__ import annotations

from ...dialects.support.diagnostics import UsageError


class UnknownPassError(UsageError, LookupError):
    """No pass has this name."""


class RequirementError(UsageError, ValueError):
    """Required passes that cannot be put in order: a circle, or two that undo one another."""


class ConfigError(UsageError, ValueError):
    """A configuration key that nobody registered, or a value of the wrong type."""


class PipelineError(UsageError, ValueError):
    """A pipeline text that cannot be read."""
