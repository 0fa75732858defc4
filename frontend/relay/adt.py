"""Data types and what takes their values apart, by the module that TVM has them in: `relay.adt`."""

from __future__ import annotations

from .data import Constructor as Constructor
from .data import TypeData as TypeData
from .kinds import Match as Match
from .matching import Clause as Clause
from .matching import PatternConstructor as PatternConstructor
from .matching import PatternTuple as PatternTuple
from .matching import PatternVar as PatternVar
from .matching import PatternWildcard as PatternWildcard
