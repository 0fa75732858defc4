"""Domains: where a value may be, as far as is known, in classes of values that are in one place.

    D ::= a device, as far as it is known | fn(D, ...) : (D, ...)

Union-find over these: what is unified is one class from then on, with all that is known of its members, and with the
operations that said so. The device of a function value is that of its first result. What has been unified on trial can
be undone.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from xdsl.dialects.builtin import FunctionType
from xdsl.ir import Attribute, Operation, SSAValue

from ....dialects.relay.devices import FREE, DeviceError, VirtualDevice
from .devices import Devices, at


@dataclass(frozen=True)
class Constraint:
    """A device that an operation asks for, and in which words."""

    device: VirtualDevice
    op: Operation
    why: str


class Domain:
    """A node of the union-find forest. What it says counts where it is a root."""

    __slots__ = ("arguments", "constraints", "device", "parent", "results")

    def __init__(
        self,
        device: VirtualDevice = FREE,
        constraints: tuple[Constraint, ...] = (),
        arguments: Sequence[Domain] = (),
        results: Sequence[Domain] | None = None,
    ):
        self.parent: Domain | None = None
        self.device = device
        self.constraints = constraints
        self.arguments = tuple(arguments)
        self.results = None if results is None else tuple(results)


class Conflict(Exception):
    """Two constraints that no device satisfies."""

    def __init__(self, first: Constraint, second: Constraint):
        super().__init__(first, second)
        self.first = first
        self.second = second


class Domains:
    """The domains of all values of a module."""

    def __init__(self, devices: Devices):
        self.devices = devices
        self._of: dict[SSAValue, Domain] = {}
        self._undo: list[Callable[[], None]] | None = None
        self.chosen = 0
        """How often something of a domain was chosen that nothing had said."""

    def of(self, value: SSAValue) -> Domain:
        """The domain of a value."""
        domain = self._of.get(value)
        if domain is None:
            domain = self._of[value] = self.free(value.type)
        return self.find(domain)

    def free(self, type: Attribute) -> Domain:
        """A new domain for values of a type, of which nothing is known."""
        if isinstance(type, FunctionType):
            inputs, outputs = type.inputs.data, type.outputs.data
            return Domain(arguments=[self.free(t) for t in inputs], results=[self.free(t) for t in outputs])
        return Domain()

    def on(self, type: Attribute, device: VirtualDevice, op: Operation, why: str) -> Domain:
        """A new domain for values of a type that `op` wants on a device; of a function value, for its results.

        Raises:
            Diagnostic: there is no such device.
        """
        if isinstance(type, FunctionType):
            inputs, outputs = type.inputs.data, type.outputs.data
            results = [self.on(t, device, op, why) for t in outputs]
            return Domain(arguments=[self.free(t) for t in inputs], results=results)
        try:
            device = self.devices.canonical(device)
        except DeviceError as error:
            raise at(op, error) from None
        return Domain(device, () if device.is_free else (Constraint(device, op, why),))

    def find(self, domain: Domain) -> Domain:
        """The root of a domain's class."""
        root = domain
        while root.parent is not None:
            root = root.parent
        if self._undo is None:
            while domain.parent is not None and domain.parent is not root:
                domain.parent, domain = root, domain.parent
        return root

    def unify(self, a: Domain, b: Domain) -> None:
        """Make two domains one; where a parameter of types stands for functions, it is where all parts of one are.

        Raises:
            Conflict: they contradict one another. What is already unified of their parts stays so.
        """
        a, b = self.find(a), self.find(b)
        if a is b:
            return
        if a.results is None or b.results is None:
            if a.results is not b.results:
                self.collapse(*((a, b) if a.results is None else (b, a)))
                return
            joined = a.device.join(b.device)
            if joined is None:
                raise _conflict(a, b)
            self._change(a, b, self.devices.canonical(joined))
            return
        assert len(a.arguments) == len(b.arguments) and len(a.results) == len(b.results)
        self._change(a, b, FREE)
        for x, y in zip((*a.arguments, *a.results), (*b.arguments, *b.results), strict=True):
            self.unify(x, y)

    def collapse(self, first_order: Domain, domain: Domain) -> None:
        """Make two domains one, where the second may be a function's: all its arguments and results then.

        Raises:
            Conflict: they contradict one another.
        """
        for part in self._parts(domain):
            self.unify(first_order, part)

    def _parts(self, domain: Domain) -> list[Domain]:
        """The domains of a function's arguments and results, and of theirs where these are functions; of another value
        its own. Each is told once: a function may give one of its own domain, where a parameter of types stands for
        both.
        """
        parts: dict[Domain, None] = {}
        pending, seen = [domain], set[Domain]()
        while pending:
            each = self.find(pending.pop())
            if each.results is None:
                parts[each] = None
            elif each not in seen:
                seen.add(each)
                pending += reversed((*each.arguments, *each.results))
        return list(parts)

    def _change(self, a: Domain, b: Domain, device: VirtualDevice) -> None:
        """Put the class of the root `b` into that of the root `a`, of which `device` is then known."""
        if self._undo is not None:
            before = (a.device, a.constraints)

            def undo() -> None:
                b.parent = None
                a.device, a.constraints = before

            self._undo.append(undo)
        b.parent = a
        a.device = device
        if b.constraints:
            known = {constraint.device for constraint in a.constraints}
            a.constraints += tuple(c for c in b.constraints if c.device not in known)

    @contextmanager
    def on_trial(self) -> Generator[None]:
        """Undo all that is done in the `with` block if it ends in a conflict, which is then forgotten."""
        self._undo = []
        try:
            yield
        except Conflict:
            for undo in reversed(self._undo):
                undo()
        finally:
            self._undo = None

    def device_of(self, domain: Domain) -> VirtualDevice:
        """The device of a domain; of a function value, that of its first result."""
        domain, seen = self.find(domain), set[Domain]()
        while domain.results and domain not in seen:
            seen.add(domain)
            domain = self.find(domain.results[0])
        if domain.results is None:
            return domain.device
        return next((part.device for part in self._parts(domain)), FREE) if domain.results else FREE

    def set_default(self, domain: Domain, device: VirtualDevice) -> None:
        """Fill what is free in a domain, and in all parts of a function's, from `device`; but an id is one of a type,
        and of another type than `device` has, the first is meant."""
        for part in self._parts(domain):
            known = part.device
            if known.id is None and known.type not in (None, device.type):
                known = VirtualDevice(known.type, 0, known.target, known.memory_scope)
            found = self.devices.canonical(known.default(device))
            self.chosen += found != part.device
            part.device = found

    def text(self, domain: Domain) -> str:
        """A domain as messages show it."""
        domain = self.find(domain)
        if domain.results is None:
            return str(domain.device)
        arguments = ", ".join(self.text(part) for part in domain.arguments)
        return f"fn({arguments}) : {', '.join(self.text(part) for part in domain.results)}"


def _conflict(a: Domain, b: Domain) -> Conflict:
    """The first two constraints of two classes that contradict one another. There are some: each part of a device comes
    from one constraint, and so do two that differ."""
    for first in a.constraints:
        for second in b.constraints:
            if first.device.join(second.device) is None:
                return Conflict(first, second)
    raise AssertionError("a conflict that no constraint explains")
