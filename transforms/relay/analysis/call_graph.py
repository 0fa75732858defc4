"""Who calls whom: TVM's `CallGraph`.

graph = CallGraph(module)
graph.callees("main")            # {"layer": 2}
graph.is_recursive("layer")      # False
graph.callees_first()            # ["layer", "main"]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Protocol

from xdsl.dialects.builtin import ModuleOp

from ....dialects.relay.calls import CallOp
from ....dialects.relay.control import ClosureOp
from ....dialects.relay.core import FuncOp
from ....dialects.relay.scan import ScanOp
from ...infra.walk import walk


class Named(Protocol):
    """The name of a function as Python's expressions have it: `relay.GlobalVar`."""

    @property
    def name_hint(self) -> str: ...


class CallGraph:
    """The functions of a module, and how often each mentions each: by a call, or as a function value."""

    def __init__(self, module: ModuleOp):
        self.module = module
        self.functions = {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp)}
        self._callees = {name: Counter(_mentions(func)) for name, func in self.functions.items()}
        self._callers: dict[str, Counter[str]] = {name: Counter() for name in self.functions}
        for caller, callees in self._callees.items():
            for callee, count in callees.items():
                self._callers.setdefault(callee, Counter())[caller] = count

    def callees(self, name: str | Named) -> Mapping[str, int]:
        """The functions that `name` mentions, and how often."""
        return dict(self._callees[_text(name)])

    def callers(self, name: str | Named) -> Mapping[str, int]:
        """The functions that mention `name`, and how often."""
        return dict(self._callers[_text(name)])

    def ref_count(self, name: str | Named) -> int:
        """How often `name` is mentioned in all."""
        return sum(self._callers[_text(name)].values())

    def global_call_count(self, name: str | Named) -> int:
        """How often `name` mentions others, or itself."""
        return sum(self._callees[_text(name)].values())

    def is_recursive(self, name: str | Named) -> bool:
        """Whether `name` reaches itself."""
        return _text(name) in self.reachable(*self._callees[_text(name)])

    def is_leaf(self, name: str | Named) -> bool:
        """Whether `name` mentions none."""
        return not self._callees[_text(name)]

    def reachable(self, *names: str) -> set[str]:
        """The functions that `names` reach, themselves among them."""
        found = set(names)
        pending = list(names)
        while pending:
            for callee in self._callees.get(pending.pop(), ()):
                if callee not in found:
                    found.add(callee)
                    pending.append(callee)
        return found

    def entries(self) -> list[str]:
        """The functions that no other one mentions."""
        return [name for name in self.functions if not set(self._callers[name]) - {name}]

    def callees_first(self) -> list[str]:
        """The functions, each after those that it mentions; within a circle in the order in which they are met."""
        order: dict[str, None] = {}
        entered: set[str] = set()
        for root in self.functions:
            stack: list[tuple[str, Iterator[str]]] = []
            if root not in entered:
                entered.add(root)
                stack.append((root, iter(self._callees[root])))
            while stack:
                name, rest = stack[-1]
                callee = next((c for c in rest if c in self.functions and c not in entered), None)
                if callee is None:
                    order[name] = None
                    stack.pop()
                else:
                    entered.add(callee)
                    stack.append((callee, iter(self._callees[callee])))
        return list(order)

    def print_var(self, name: str | Named) -> str:
        """What the graph holds of one function, in TVM's words."""
        text = _text(name)
        refs = f"#refs = {self.ref_count(text)}"
        lines = [f"Call graph node: {text}", f"  {refs}"]
        lines += [f"  call site: <{each}>, calls {count} times" for each, count in self._callees[text].items()]
        return "\n".join(lines)

    def __str__(self) -> str:
        lines: list[str] = []
        for name in self.functions:
            lines.append(f"@{name}: referred to {self.ref_count(name)} times")
            lines += [f"  calls @{callee} {count} times" for callee, count in self._callees[name].items()]
        return "\n".join(lines)


def _text(name: str | Named) -> str:
    return name if isinstance(name, str) else name.name_hint


def _mentions(func: FuncOp) -> Iterator[str]:
    for op in walk(func):
        if isinstance(op, CallOp | ClosureOp | ScanOp):
            yield op.callee.string_value()
