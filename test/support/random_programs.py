"""Random programs that branch, call and hand on values of all kinds."""

from __future__ import annotations

from random import Random

T = "tensor<3xf32>"
PAIR = f"tuple<{T}, {T}>"
FUNCTION = f"({T}) -> {T}"
LIST = f"!relay.adt<@list, [{T}]>"
REF = f"!relay.ref<{T}>"
KINDS = (T, PAIR, FUNCTION, LIST, REF)

PRELUDE = f"""
relay.adt @list<"T"> {{nil(), cons(!relay.param<"T">, !relay.adt<@list, [!relay.param<"T">]>)}}
relay.func private @sum(%so_far: {T}, %l: {LIST}) -> {T} {{
  %y = relay.match %l : ({LIST}) -> {T}
  case cons(%h: {T}, %t: {LIST}) {{
    %s = relay.add %so_far, %h : ({T}, {T}) -> {T}
    %0 = relay.call @sum(%s, %t) : ({T}, {LIST}) -> {T}
    relay.yield %0 : {T}
  }} default {{
    relay.yield %so_far : {T}
  }}
  relay.return %y : {T}
}}
relay.func private @copy(%l: {LIST}, %f: {FUNCTION}) -> {LIST} {{
  %y = relay.match %l : ({LIST}) -> {LIST}
  case cons(%h: {T}, %t: {LIST}) {{
    %g = relay.apply %f(%h) : {FUNCTION}
    %r = relay.call @copy(%t, %f) : ({LIST}, {FUNCTION}) -> {LIST}
    %0 = relay.construct "cons"(%g, %r) : ({T}, {LIST}) -> {LIST}
    relay.yield %0 : {LIST}
  }} case nil() {{
    relay.yield %l : {LIST}
  }}
  relay.return %y : {LIST}
}}
"""


class _Program:
    def __init__(self, seed: int):
        self.random = Random(seed)
        self.lines: list[str] = []
        self.count = 0

    def line(self, depth: int, text: str) -> None:
        self.lines.append("  " * depth + text)

    def new(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def pick(self, seen: dict[str, list[str]], kind: str) -> str:
        return self.random.choice(seen[kind])

    def block(self, seen: dict[str, list[str]], depth: int, length: int) -> dict[str, list[str]]:
        seen = {kind: [*names] for kind, names in seen.items()}
        for _ in range(length):
            kind = self.random.choice(KINDS)
            seen[kind].append(self.value(kind, seen, depth))
            if self.random.random() < 0.2:
                self.line(depth, f"relay.ref_write {self.pick(seen, REF)}, {self.pick(seen, T)} : {REF}, {T}")
        return seen

    def value(self, kind: str, seen: dict[str, list[str]], depth: int) -> str:
        """Write what makes a value of a kind."""
        if depth < 4 and self.random.random() < 0.3:
            return self.branch(kind, seen, depth)
        name = self.new()
        a, b = self.pick(seen, T), self.pick(seen, T)
        pair, function, items, ref = (self.pick(seen, each) for each in KINDS[1:])
        choices = {
            T: [
                f"relay.add {a}, {b} : ({T}, {T}) -> {T}",
                f"relay.tanh {a} : {T}",
                f"relay.tuple_get {pair}[{self.random.randrange(2)}] : {PAIR} -> {T}",
                f"relay.apply {function}({a}) : {FUNCTION}",
                f"relay.call @sum({a}, {items}) : ({T}, {LIST}) -> {T}",
                f"relay.ref_read {ref} : ({REF}) -> {T}",
            ],
            PAIR: [f"relay.tuple({a}, {b}) : ({T}, {T}) -> {PAIR}"],
            FUNCTION: [],
            LIST: [
                f'relay.construct "cons"({a}, {items}) : ({T}, {LIST}) -> {LIST}',
                f"relay.call @copy({items}, {function}) : ({LIST}, {FUNCTION}) -> {LIST}",
            ],
            REF: [f"relay.ref_create {a} : ({T}) -> {REF}"],
        }[kind]
        if choices:
            self.line(depth, f"{name} = {self.random.choice(choices)}")
            return name
        argument = self.new()
        self.line(depth, f"{name} = relay.fn({argument}: {T}) -> {T} {{")
        inner = self.block({**seen, T: [*seen[T], argument]}, depth + 2, self.random.randrange(3))
        self.line(depth + 1, f"relay.yield {self.pick(inner, T)} : {T}")
        self.line(depth, "}")
        return name

    def branch(self, kind: str, seen: dict[str, list[str]], depth: int) -> str:
        result = self.new()
        written = f"({kind})" if kind == FUNCTION else kind
        if self.random.random() < 0.5:
            total, limit, test = self.new(), self.new(), self.new()
            self.line(depth, f"{total} = relay.sum {self.pick(seen, T)} : ({T}) -> tensor<f32>")
            self.line(depth, f"{limit} = relay.constant dense<{self.random.uniform(-2, 2):.3}> : tensor<f32>")
            self.line(depth, f"{test} = relay.greater {total}, {limit} : (tensor<f32>, tensor<f32>) -> tensor<i1>")
            self.line(depth, f"{result} = relay.if {test} : (tensor<i1>) -> {written} {{")
            self.arm(kind, seen, depth)
            self.line(depth, "} else {")
        else:
            head, tail = self.new(), self.new()
            self.line(depth, f"{result} = relay.match {self.pick(seen, LIST)} : ({LIST}) -> {written}")
            self.line(depth, f"case cons({head}: {T}, {tail}: {LIST}) {{")
            self.arm(kind, {**seen, T: [*seen[T], head], LIST: [*seen[LIST], tail]}, depth)
            self.line(depth, "} default {")
        self.arm(kind, seen, depth)
        self.line(depth, "}")
        return result

    def arm(self, kind: str, seen: dict[str, list[str]], depth: int) -> None:
        inner = self.block(seen, depth + 1, self.random.randrange(4))
        self.line(depth + 1, f"relay.yield {self.pick(inner, kind)} : {kind}")


def random_program(seed: int, length: int = 12) -> str:
    """A module with a function `@main` of two tensors, which gives three."""
    program = _Program(seed)
    seen: dict[str, list[str]] = {T: ["%x", "%y"], PAIR: ["%p"], FUNCTION: ["%f"], LIST: ["%nil"], REF: ["%r"]}
    program.line(0, f"relay.func @main(%x: {T}, %y: {T}) -> ({T}, {T}, {T}) {{")
    program.line(1, f"%p = relay.tuple(%x, %y) : ({T}, {T}) -> {PAIR}")
    program.line(1, f"%f = relay.fn(%a: {T}) -> {T} {{ %n = relay.negative %a : {T} relay.yield %n : {T} }}")
    program.line(1, f'%nil = relay.construct "nil"() : () -> {LIST}')
    program.line(1, f"%r = relay.ref_create %x : ({T}) -> {REF}")
    last = program.block(seen, 1, length)
    given = [program.pick(last, T), last[T][-1]]
    program.line(1, f"%end = relay.ref_read {program.pick(last, REF)} : ({REF}) -> {T}")
    program.line(1, f"relay.return {', '.join(given)}, %end : {T}, {T}, {T}")
    program.line(0, "}")
    return PRELUDE + "\n".join(program.lines) + "\n"
