"""How tests have C compiled: strictly, and only where there is a compiler."""

import pytest

from weft.lowering.loops_to_c.compile import has_compiler

STRICT = ("-Wall", "-Wextra", "-Werror")
needs_compiler = pytest.mark.skipif(not has_compiler(), reason="there is no C compiler (cc) on this system")
