"""Time and memory per pass, and of the steps of a compilation that are no passes."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from time import perf_counter

from xdsl.dialects.builtin import ModuleOp

from .context import PassContext
from .info import PassInfo
from .instruments import PassInstrument


def human(seconds: float) -> str:
    """A time in the unit in which it reads best: `1.13s`, `25.4ms`, `310us`."""
    for unit, factor in (("s", 1.0), ("ms", 1e3)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g}{unit}" if seconds * factor < 1000 else f"{seconds * factor:.0f}{unit}"
    return f"{seconds * 1e6:.0f}us"


@dataclass
class Profile:
    """One run of one pass, and the passes that ran inside it."""

    name: str
    start: float = 0.0
    seconds: float = 0.0
    bytes: int = 0
    """Python memory gained, where `tracemalloc` is tracing."""
    children: list[Profile] = field(default_factory=list["Profile"])

    @property
    def own_seconds(self) -> float:
        return self.seconds - sum(child.seconds for child in self.children)

    def as_dict(self) -> dict[str, object]:
        return {
            "name": self.name,
            "seconds": self.seconds,
            "own_seconds": self.own_seconds,
            "bytes": self.bytes,
            "passes": [child.as_dict() for child in self.children],
        }


class PassTimingInstrument(PassInstrument):
    """Measures how long each pass takes, as a tree: TVM's `PassTimingInstrument`.

        with PassContext(instruments=[timing := PassTimingInstrument()]):
            module = Sequential([...])(module)
            print(timing.render())

    What was measured is dropped when the context is left, so render inside. Each thread has its own tree.

    Args:
        memory: also report how much Python memory each pass has gained; needs `tracemalloc.start()`, and slows passes.
    """

    def __init__(self, *, memory: bool = False):
        self._memory = memory
        self._local = threading.local()

    def _open(self) -> list[Profile]:
        """The root and the passes that are running, outermost first."""
        if not hasattr(self._local, "open"):
            self._local.open = [Profile("root")]
        return self._local.open

    @property
    def profiles(self) -> list[Profile]:
        """The outermost passes measured in this thread."""
        return self._open()[0].children

    def exit_pass_ctx(self) -> None:
        self._local.__dict__.clear()  # this thread's tree alone

    def run_before_pass(self, module: ModuleOp, info: PassInfo) -> None:
        self._begin(info.name)

    def run_after_pass(self, module: ModuleOp, info: PassInfo) -> None:
        self._end()

    @contextmanager
    def section(self, name: str) -> Generator[None]:
        """Measure what is done in the `with` block, which is no pass."""
        self._begin(name)
        try:
            yield
        finally:
            self._end()

    def _begin(self, name: str) -> None:
        profile = Profile(name, bytes=self._traced())
        self._open()[-1].children.append(profile)
        self._open().append(profile)
        profile.start = perf_counter()

    def _end(self) -> None:
        end = perf_counter()
        profile = self._open().pop()
        profile.seconds = end - profile.start
        profile.bytes = self._traced() - profile.bytes

    def run_after_failure(self, module: ModuleOp, info: PassInfo, error: Exception) -> None:
        self.run_after_pass(module, info)

    def _traced(self) -> int:
        if not self._memory:
            return 0
        import tracemalloc  # which takes long, and is seldom needed

        return tracemalloc.get_traced_memory()[0]

    def render(self) -> str:
        """The tree as text, one line a pass: `name: total [self] (share of the whole; share of the parent)`.

        Nothing, and a warning, where no pass has run.

        Raises:
            RuntimeError: a pass is running.
        """
        if len(self._open()) > 1:
            raise RuntimeError(f"the pass {self._open()[-1].name} is still running: its time is not known yet")
        if not self.profiles:
            warnings.warn("no pass has been timed; render inside of the PassContext", stacklevel=2)
            return ""
        total = sum(profile.seconds for profile in self.profiles)
        return "".join(self._lines(self.profiles, total))

    def _lines(self, outermost: list[Profile], total: float) -> Iterator[str]:
        stack = [(profile, 0, total) for profile in reversed(outermost)]
        while stack:
            profile, depth, of = stack.pop()
            memory = f" {profile.bytes / 1024:+.1f} KiB" if self._memory else ""
            yield (
                f"{'  ' * depth}{profile.name}: {human(profile.seconds)} [{human(profile.own_seconds)}] "
                f"({_percent(profile.seconds, total)}; {_percent(profile.seconds, of)}){memory}\n"
            )
            stack.extend((child, depth + 1, profile.seconds) for child in reversed(profile.children))

    def render_table(self, wall: float | None = None) -> str:
        """The same times in the manner of `mlir-opt --mlir-timing`: passes of one name put together, longest first.

        With `wall`, the seconds that all of it took, what was not measured is shown as the rest.
        """
        seconds: dict[str, float] = {}
        stack = list(self.profiles)
        while stack:
            profile = stack.pop()
            seconds[profile.name] = seconds.get(profile.name, 0.0) + profile.own_seconds
            stack.extend(profile.children)
        if wall is not None:
            seconds["Rest"] = max(wall - sum(seconds.values()), 0.0)
        total = sum(seconds.values())
        rule = f"===-{'-' * 73}-==="
        lines = [rule, "Execution time report".center(len(rule)).rstrip(), rule]
        lines += [f"  Total Execution Time: {total:.4f} seconds", "", "  ----Wall Time----  ----Name----"]
        for name, s in sorted(seconds.items(), key=lambda item: -item[1]):
            lines.append(f"  {s:10.4f} ({_percent(s, total):>6})  {name}")
        lines.append(f"  {total:10.4f} (100.0%)  Total")
        return "\n".join(lines) + "\n"

    def to_json(self) -> str:
        """The tree as JSON: name, seconds, own_seconds, bytes, passes."""
        import json

        return json.dumps([profile.as_dict() for profile in self.profiles])


@contextmanager
def timed(name: str) -> Generator[None]:
    """Have the instruments of the current `PassContext` that measure time measure the `with` block as well."""
    with ExitStack() as sections:
        for instrument in PassContext.current().instruments:
            if isinstance(instrument, PassTimingInstrument):
                sections.enter_context(instrument.section(name))
        yield


def _percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f}%" if whole else "0.0%"
