"""The process that measures, from its first moment on: `python -m weft.tuning.worker 5` serves the pipe of that number.

It ends with who started it. That may die while Weft is being imported here, which takes seconds on a machine with much
to do: so nothing is imported before that is seen to.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from multiprocessing.connection import Connection

from ..dialects.support.lifelines import end_with


def main() -> int:
    """Serve the pipe whose number is the argument. What kernels or libraries print goes to standard error."""
    connection = Connection(int(sys.argv[1]))
    end_with(connection.fileno())
    os.dup2(2, 1)
    import_module("..universe", __package__)  # which makes all of Weft's dialects and passes known
    from .serving import serve

    connection.send(os.getpid())  # whoever waits for it learns that jobs are taken now
    serve(connection)
    return 0


if __name__ == "__main__":
    sys.exit(main())
