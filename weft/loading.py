"""`weft.load`: a saved executable, without the compiler."""

from __future__ import annotations

import os

from .dialects.support.arguments import checked
from .runtime import artefact
from .runtime.executable import Executable
from .runtime.host import check_runs_here


@checked
def load(path: str | os.PathLike[str], threads: int | None = None) -> Executable:
    """An executable that `Executable.save` wrote.

    The file holds machine code, which is run as it is: load only what you would run as a program. The digest in it
    finds what was damaged, not what was made to do harm.

    Args:
        path: the file.
        threads: threads for an inference; as many as there are processors for this process, unless given.

    Raises:
        Diagnostic: the file cannot be read, or is not one of Weft's artefacts.
        PlatformError: it was made for another machine, or for features that this processor has not.
    """
    graph = artefact.load(path)
    check_runs_here(graph.platform, path)
    return Executable(graph, threads)
