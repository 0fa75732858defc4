"""Kinds of targets and tags that users add: see `lowering/machine/target_kinds.py`."""

from .lowering.machine.target_kinds import TargetKind as TargetKind
from .lowering.machine.target_kinds import add_kind as add_kind
from .lowering.machine.target_kinds import add_tag as add_tag
from .lowering.machine.target_kinds import kinds as kinds
from .lowering.machine.target_kinds import remove_kind as remove_kind
from .lowering.machine.target_kinds import remove_tag as remove_tag
from .lowering.machine.target_kinds import tags as tags
