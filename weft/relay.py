"""Relay in Python, under TVM's names; see `weft.frontend.relay`."""

from __future__ import annotations

import sys

from .frontend import relay

sys.modules[__name__] = relay
