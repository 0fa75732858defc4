"""`weft-opt` as a process of its own for each call, forked from one that has imported Weft, but no plug-in, already.

To start an interpreter and import Weft takes ten times as long as what most calls do.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

SERVER = """
import gc, json, os, sys, traceback
import weft.dialects.relay, weft.tools.driver, weft.tools.weft_opt
from weft.lowering import phases
from weft.tools.weft_opt import main

gc.freeze()
for line in sys.stdin:
    request = json.loads(line)
    if (child := os.fork()) == 0:
        code = 1
        try:
            for number, name in enumerate(("in", "out", "err")):
                file = os.open(os.path.join(request["streams"], name), os.O_RDONLY if number == 0 else os.O_WRONLY)
                os.dup2(file, number)
            sys.stdin = open(0, closefd=False)
            sys.path[:0] = request["path"]
            sys.argv = ["weft-opt", *request["arguments"]]
            code = main(request["arguments"])
        except SystemExit as exit:
            code = exit.code
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code if isinstance(code, int) else int(code is not None))
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class WarmTool:
    """What runs the tool; see `warm_tool`."""

    def __init__(self, server: subprocess.Popen[str], streams: Path):
        self._server = server
        self._streams = streams

    def __call__(self, *arguments: str, path: Sequence[Path] = (), text: str = "") -> subprocess.CompletedProcess[str]:
        """Run the tool on `text`, with folders in front of those in which Python looks for modules."""
        request = {"arguments": arguments, "path": [str(folder) for folder in path], "streams": str(self._streams)}
        for name, content in (("in", text), ("out", ""), ("err", "")):
            (self._streams / name).write_text(content)
        server = self._server
        assert server.stdin is not None and server.stdout is not None
        server.stdin.write(json.dumps(request) + "\n")
        server.stdin.flush()
        code = server.stdout.readline()
        assert code, "the server has died"
        out, err = ((self._streams / name).read_text() for name in ("out", "err"))
        return subprocess.CompletedProcess(["weft-opt", *arguments], int(code), out, err)


@contextmanager
def warm_tool(streams: Path) -> Generator[WarmTool]:
    """The tool, run in the root of the repository; `streams` is a folder for what goes in and out."""
    with subprocess.Popen(
        [sys.executable, "-c", SERVER],
        cwd=Path(__file__).parents[2],
        env=os.environ,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        yield WarmTool(server, streams)
        assert server.stdin is not None
        server.stdin.close()
        assert server.wait(60) == 0
