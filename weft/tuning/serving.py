"""What the process that measures does: it takes jobs from a pipe and answers, one after another, until it is closed.

Machine code runs in it that nobody has run before. It may end the process, or never end: whoever started the process
(`measure`) waits only so long, and sees when it dies. It ends with who started it (`worker`); where that lives on, but
does not wait any more, a clock of its own ends it.
"""

from __future__ import annotations

import signal
from multiprocessing.connection import Connection
from typing import cast

from ..dialects.support.diagnostics import Diagnostic
from ..lowering.machine.target import Target
from .bench import Reference, measure
from .jobs import Job, Measurement, NoMeasurement


def serve(connection: Connection) -> None:
    """Answer jobs. The kernel with its default schedule is kept from job to job, as most are about the same one."""
    known: tuple[object, Reference] | None = None
    while True:
        try:
            job = cast(Job, connection.recv())
        except (EOFError, OSError):
            return
        signal.alarm(int(2 * job.effort.limit_s) + 10)
        key = (job.module, job.target, job.threads, job.rules)
        answer: Measurement | NoMeasurement
        try:
            if known is None or known[0] != key:
                known = None
                here = Target.parse(job.target).name()
                if here != job.target_name:
                    raise Diagnostic(f"this machine is {here}, not {job.target_name}")
                known = (key, Reference(job))
            answer = measure(job, known[1])
        except Diagnostic as error:
            answer = NoMeasurement(error.message)
        signal.alarm(0)
        try:
            connection.send(answer)
        except OSError:
            return
