"""Random programs that branch, loop, call, recurse and hand on values of all kinds.

Numbers are small integers, of floats too, so that each gives the same however it is computed. What recurses counts
down, or walks along a list or a tree. Plain programs keep to what notes on devices do not contradict: they have no
functions that give functions, no trees, no loops, no functions that call one another.
"""

from __future__ import annotations

import re
from random import Random

N = "tensor<i32>"
C = "tensor<i1>"
NONE = "%none"
"""In place of a value of a kind that a program has none of."""


class _Program:
    def __init__(self, seed: int, element: str, plain: bool):
        self.random = Random(seed)
        self.lines: list[str] = []
        self.count = 0
        self.element = element
        self.plain = plain
        self.t = t = f"tensor<3x{element}>"
        self.pair = f"tuple<{t}, {t}>"
        self.function = f"({t}) -> {t}"
        self.maker = f"({t}) -> ({self.function})"
        self.list = f"!relay.adt<@list, [{t}]>"
        self.functions = f"!relay.adt<@list, [{self.function}]>"
        self.tree = f"!relay.adt<@tree, [{t}]>"
        self.nested = f"tuple<{N}, tuple<{self.function}, {self.list}>>"
        self.ref = f"!relay.ref<{t}>"
        self.cell = f"!relay.ref<{self.list}>"
        self.kinds = (t, self.pair, self.function, self.list, self.ref) if plain else (
            t, t, t, N, C, self.pair, self.function, self.function, self.maker, self.list, self.list, self.functions,
            self.tree, self.nested, self.ref, self.cell,
        )  # fmt: skip
        self.recursive: dict[str, tuple[str, str]] = {}
        """Functions of a count, a tensor and a value that count down: the kinds of that value and of what they give."""
        self.calls = 0
        """Of such functions, that may still stand in what is written."""

    def line(self, depth: int, text: str) -> None:
        self.lines.append("  " * depth + text)

    def new(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def prelude(self) -> str:
        """Data types, and of these functions the ones that are called: a sum along a list, a list of what a function
        makes of one, a loop, two functions that call one another, what is made of a tree, and polymorphic ones."""
        t, items, tree, function = self.t, self.list, self.tree, self.function
        a, b = '!relay.param<"A">', '!relay.param<"B">'
        of_a, of_b = (f"!relay.adt<@list, [{each}]>" for each in (a, b))
        inner = '!relay.adt<@tree, [!relay.param<"T">]>'
        called = set(re.findall(r"@\w+", "\n".join(self.lines)))
        functions = {
            "@sum": f"""relay.func private @sum(%so_far: {t}, %l: {items}) -> {t} {{
  %y = relay.match %l : ({items}) -> {t}
  case cons(%h: {t}, %t: {items}) {{
    %s = relay.add %so_far, %h : ({t}, {t}) -> {t}
    %0 = relay.call @sum(%s, %t) : ({t}, {items}) -> {t}
    relay.yield %0 : {t}
  }} default {{
    relay.yield %so_far : {t}
  }}
  relay.return %y : {t}
}}
""",
            "@copy": f"""relay.func private @copy(%l: {items}, %f: {function}) -> {items} {{
  %y = relay.match %l : ({items}) -> {items}
  case cons(%h: {t}, %t: {items}) {{
    %g = relay.apply %f(%h) : {function}
    %r = relay.call @copy(%t, %f) : ({items}, {function}) -> {items}
    %0 = relay.construct "cons"(%g, %r) : ({t}, {items}) -> {items}
    relay.yield %0 : {items}
  }} case nil() {{
    relay.yield %l : {items}
  }}
  relay.return %y : {items}
}}
""",
            "@loop": f"""relay.func private @loop(%i: {N}, %x: {t}, %f: {function}) -> {t} {{
  %zero = relay.constant dense<0> : {N}
  %one = relay.constant dense<1> : {N}
  %c = relay.greater %i, %zero : ({N}, {N}) -> {C}
  %r = relay.if %c : ({C}) -> {t} {{
    %j = relay.subtract %i, %one : ({N}, {N}) -> {N}
    %z = relay.apply %f(%x) : {function}
    %0 = relay.call @loop(%j, %z, %f) : ({N}, {t}, {function}) -> {t}
    relay.yield %0 : {t}
  }} else {{
    relay.yield %x : {t}
  }}
  relay.return %r : {t}
}}
""",
            "@ping": f"""relay.func private @ping(%i: {N}, %x: {t}, %r: {self.ref}) -> {t} {{
  %zero = relay.constant dense<0> : {N}
  %one = relay.constant dense<1> : {N}
  %c = relay.greater %i, %zero : ({N}, {N}) -> {C}
  %y = relay.if %c : ({C}) -> {t} {{
    %j = relay.subtract %i, %one : ({N}, {N}) -> {N}
    %z = relay.negative %x : {t}
    %0 = relay.call @pong(%r, %z, %j) : ({self.ref}, {t}, {N}) -> {t}
    relay.yield %0 : {t}
  }} else {{
    relay.yield %x : {t}
  }}
  relay.return %y : {t}
}}
relay.func private @pong(%r: {self.ref}, %x: {t}, %i: {N}) -> {t} {{
  %o = relay.ref_read %r : ({self.ref}) -> {t}
  %y = relay.maximum %x, %o : ({t}, {t}) -> {t}
  relay.ref_write %r, %x : {self.ref}, {t}
  %z = relay.call @ping(%i, %y, %r) : ({N}, {t}, {self.ref}) -> {t}
  relay.return %z : {t}
}}
""",
            "@fold": f"""relay.func private @fold(%d: {tree}, %f: {function}) -> {t} {{
  %y = relay.match %d : ({tree}) -> {t}
  case leaf(%x: {t}) {{
    relay.yield %x : {t}
  }} case node(%l: {tree}, %x: {t}, %r: {tree}) {{
    %a = relay.call @fold(%l, %f) : ({tree}, {function}) -> {t}
    %b = relay.call @fold(%r, %f) : ({tree}, {function}) -> {t}
    %0 = relay.subtract %a, %b : ({t}, {t}) -> {t}
    %1 = relay.apply %f(%0) : {function}
    %2 = relay.maximum %1, %x : ({t}, {t}) -> {t}
    relay.yield %2 : {t}
  }}
  relay.return %y : {t}
}}
""",
            "@length": f"""relay.func private @length(%n: {N}, %l: {of_a}) -> {N} {{
  %one = relay.constant dense<1> : {N}
  %y = relay.match %l : ({of_a}) -> {N}
  case cons(%h: {a}, %t: {of_a}) {{
    %m = relay.add %n, %one : ({N}, {N}) -> {N}
    %0 = relay.call @length(%m, %t) : ({N}, {of_a}) -> {N}
    relay.yield %0 : {N}
  }} default {{
    relay.yield %n : {N}
  }}
  relay.return %y : {N}
}}
""",
            "@map": f"""relay.func private @map(%f: ({a}) -> {b}, %l: {of_a}) -> {of_b} {{
  %y = relay.match %l : ({of_a}) -> {of_b}
  case cons(%h: {a}, %t: {of_a}) {{
    %z = relay.apply %f(%h) : ({a}) -> {b}
    %r = relay.call @map(%f, %t) : (({a}) -> {b}, {of_a}) -> {of_b}
    %c = relay.construct "cons"(%z, %r) : ({b}, {of_b}) -> {of_b}
    relay.yield %c : {of_b}
  }} default {{
    %n = relay.construct "nil"() : () -> {of_b}
    relay.yield %n : {of_b}
  }}
  relay.return %y : {of_b}
}}
""",
        }
        types = f"""
relay.adt @list<"T"> {{nil(), cons(!relay.param<"T">, !relay.adt<@list, [!relay.param<"T">]>)}}
relay.adt @tree<"T"> {{leaf(!relay.param<"T">), node({inner}, !relay.param<"T">, {inner})}}
"""
        return types + "".join(text for name, text in functions.items() if name in called)

    # values

    def pick(self, seen: dict[str, list[str]], kind: str) -> str:
        """A value of a kind, mostly one of the last that were made."""
        known = seen.get(kind) or [NONE]
        return self.random.choice(known[-3:] if self.random.random() < 0.6 else known)

    def block(self, seen: dict[str, list[str]], depth: int, length: int) -> dict[str, list[str]]:
        seen = {kind: [*names] for kind, names in seen.items()}
        for _ in range(length):
            kind = self.random.choice(self.kinds)
            seen[kind].append(self.value(kind, seen, depth))
            if self.random.random() < 0.2:
                cells = [(self.ref, self.t), (self.cell, self.list)]
                cell, kind = self.random.choice([each for each in cells if each[0] in seen])
                self.line(depth, f"relay.ref_write {self.pick(seen, cell)}, {self.pick(seen, kind)} : {cell}, {kind}")
        return seen

    def value(self, kind: str, seen: dict[str, list[str]], depth: int) -> str:
        """Write what makes a value of a kind."""
        if depth < 4 and self.random.random() < 0.3:
            return self.branch(kind, seen, depth)
        callable_ = [name for name, (_, given) in self.recursive.items() if given == kind]
        if callable_ and seen.get("count") and self.calls > 0 and self.random.random() < 0.5:
            return self.recursive_call(self.random.choice(callable_), seen, depth)
        if kind in (self.function, self.maker) and (self.plain or self.random.random() < 0.6):
            return self.function_value(kind, seen, depth)
        name, choices = self.new(), [text for text in self.choices(kind, seen) if NONE not in text]
        self.line(depth, f"{name} = {self.random.choice(choices)}")
        return name

    def choices(self, kind: str, seen: dict[str, list[str]]) -> list[str]:
        """What makes a value of a kind, of those that there are."""
        t, pair, function, items, tree = self.t, self.pair, self.function, self.list, self.tree
        a, b = self.pick(seen, t), self.pick(seen, t)
        f, maker, given, p, d = (self.pick(seen, each) for each in (function, self.maker, items, pair, tree))
        n, m, c, fs = (self.pick(seen, each) for each in (N, N, C, self.functions))
        nested, ref, cell = (self.pick(seen, each) for each in (self.nested, self.ref, self.cell))
        result = f"({kind})" if kind.startswith("(") else kind
        binary = self.random.choice(["add", "subtract", "maximum", "minimum"])
        match kind:
            case self.t:
                count = self.random.choice(seen.get("count") or ["%zero" if N in seen else NONE])
                return [
                    f"relay.{binary} {a}, {b} : ({t}, {t}) -> {t}",
                    f"relay.clip {a} {{a_min = -8.0 : f64, a_max = 8.0 : f64}} : {t}",
                    f"relay.negative {a} : {t}",
                    f"relay.where {c}, {a}, {b} : ({C}, {t}, {t}) -> {t}",
                    f"relay.tuple_get {p}[{self.random.randrange(2)}] : {pair} -> {t}",
                    f"relay.apply {f}({a}) : {function}",
                    f"relay.call @sum({a}, {given}) : ({t}, {items}) -> {t}",
                    f"relay.call @loop({count}, {a}, {f}) : ({N}, {t}, {function}) -> {t}",
                    f"relay.call @ping({count}, {a}, {ref}) : ({N}, {t}, {self.ref}) -> {t}",
                    f"relay.call @fold({d}, {f}) : ({tree}, {function}) -> {t}",
                    f"relay.ref_read {ref} : ({self.ref}) -> {t}",
                ]
            case "tensor<i32>":
                return [
                    f"relay.{binary} {n}, {m} : ({N}, {N}) -> {N}",
                    f"relay.constant dense<{self.random.randint(-3, 3)}> : {N}",
                    f"relay.tuple_get {nested}[0] : {self.nested} -> {N}",
                    f"relay.call @length({n}, {given}) : ({N}, {items}) -> {N}",
                    f"relay.call @length({n}, {fs}) : ({N}, {self.functions}) -> {N}",
                ]
            case "tensor<i1>":
                compare = self.random.choice(["less", "greater_equal", "equal"])
                return [
                    f"relay.{compare} {n}, {m} : ({N}, {N}) -> {C}",
                    f"relay.logical_not {c} : {C}",
                    f"relay.logical_and {c}, {self.pick(seen, C)} : ({C}, {C}) -> {C}",
                ]
            case self.pair:
                return [f"relay.tuple({a}, {b}) : ({t}, {t}) -> {pair}"]
            case self.function:
                return [
                    f"relay.apply {maker}({a}) : {self.maker}",
                    f"relay.closure @adder({a}) : ({t}) -> {result}",
                ]
            case self.maker:
                return [f"relay.closure @capture({given}) : ({items}) -> {result}"]
            case self.list:
                return [
                    f'relay.construct "nil"() : () -> {items}',
                    f'relay.construct "cons"({a}, {given}) : ({t}, {items}) -> {items}',
                    f'relay.construct "cons"({a}, {given}) : ({t}, {items}) -> {items}',
                    f"relay.call @copy({given}, {f}) : ({items}, {function}) -> {items}",
                    f"relay.call @map({f}, {given}) : ({function}, {items}) -> {items}",
                    f"relay.ref_read {cell} : ({self.cell}) -> {items}",
                ]
            case self.functions:
                return [
                    f'relay.construct "cons"({f}, {fs}) : ({function}, {self.functions}) -> {self.functions}',
                    f"relay.call @map({maker}, {given}) : ({self.maker}, {items}) -> {self.functions}",
                ]
            case self.tree:
                other = self.pick(seen, tree)
                return [
                    f'relay.construct "leaf"({a}) : ({t}) -> {tree}',
                    f'relay.construct "node"({d}, {a}, {other}) : ({tree}, {t}, {tree}) -> {tree}',
                ]
            case self.nested:
                inner = self.new()
                kinds = f"{function}, {items}"
                self.lines.append(f"{inner} = relay.tuple({f}, {given}) : ({kinds}) -> tuple<{kinds}>")
                return [f"relay.tuple({n}, {inner}) : ({N}, tuple<{kinds}>) -> {self.nested}"]
            case self.ref:
                return [f"relay.ref_create {a} : ({t}) -> {self.ref}"]
            case _:
                return [f"relay.ref_create {given} : ({items}) -> {self.cell}"]

    def recursive_call(self, name: str, seen: dict[str, list[str]], depth: int) -> str:
        self.calls -= 1
        takes, kind = self.recursive[name]
        count, x, other = self.random.choice(seen["count"]), self.pick(seen, self.t), self.pick(seen, takes)
        result = self.new()
        written = f"({kind})" if kind.startswith("(") else kind
        self.line(depth, f"{result} = relay.call {name}({count}, {x}, {other}) : ({N}, {self.t}, {takes}) -> {written}")
        return result

    def function_value(self, kind: str, seen: dict[str, list[str]], depth: int) -> str:
        """A function that sees what is around it; a maker gives one that sees its argument, too."""
        name, argument = self.new(), self.new()
        given = self.t if kind == self.function else self.function
        written = f"({given})" if given.startswith("(") else given
        self.line(depth, f"{name} = relay.fn({argument}: {self.t}) -> {written} {{")
        within = {**seen, self.t: [*seen[self.t], argument]}
        inner = self.block(within, depth + 2, self.random.randrange(3))
        value = (
            self.pick(inner, self.t) if kind == self.function else self.function_value(self.function, inner, depth + 1)
        )
        self.line(depth + 1, f"relay.yield {value} : {given}")
        self.line(depth, "}")
        return name

    def branch(self, kind: str, seen: dict[str, list[str]], depth: int) -> str:
        result = self.new()
        written = f"({kind})" if kind.startswith("(") else kind
        how = self.random.random()
        if how < 0.5:
            test = self.condition(seen, depth)
            self.line(depth, f"{result} = relay.if {test} : ({C}) -> {written} {{")
            self.arm(kind, seen, depth)
            self.line(depth, "} else {")
        elif how < 0.8 or self.plain:
            lists = [(self.t, self.list), (self.function, self.functions)]
            element, adt = self.random.choice([each for each in lists if each[1] in seen])
            head, tail = self.new(), self.new()
            self.line(depth, f"{result} = relay.match {self.pick(seen, adt)} : ({adt}) -> {written}")
            self.line(depth, f"case cons({head}: {element}, {tail}: {adt}) {{")
            self.arm(kind, _with(seen, (element, head), (adt, tail)), depth)
            self.line(depth, "} default {")
        else:
            t, tree = self.t, self.tree
            x, y, left, right = (self.new() for _ in range(4))
            self.line(depth, f"{result} = relay.match {self.pick(seen, tree)} : ({tree}) -> {written}")
            self.line(depth, f"case node({left}: {tree}, {x}: {t}, {right}: {tree}) {{")
            self.arm(kind, _with(seen, (tree, left), (t, x), (tree, right)), depth)
            self.line(depth, f"}} case leaf({y}: {t}) {{")
            seen = _with(seen, (t, y))
        self.arm(kind, seen, depth)
        self.line(depth, "}")
        return result

    def condition(self, seen: dict[str, list[str]], depth: int) -> str:
        if C in seen and self.random.random() < 0.5:
            return self.pick(seen, C)
        small, total, limit, test = self.new(), self.new(), self.new(), self.new()
        scalar = f"tensor<{self.element}>"
        number = f"{self.random.randint(-4, 4)}{'.0' if self.element.startswith('f') else ''}"
        bounds = "{a_min = -99.0 : f64, a_max = 99.0 : f64}"
        self.line(depth, f"{small} = relay.clip {self.pick(seen, self.t)} {bounds} : {self.t}")
        self.line(depth, f"{total} = relay.sum {small} : ({self.t}) -> {scalar}")
        self.line(depth, f"{limit} = relay.constant dense<{number}> : {scalar}")
        self.line(depth, f"{test} = relay.greater {total}, {limit} : ({scalar}, {scalar}) -> {C}")
        return test

    def arm(self, kind: str, seen: dict[str, list[str]], depth: int) -> None:
        inner = self.block(seen, depth + 1, self.random.randrange(4))
        self.line(depth + 1, f"relay.yield {self.pick(inner, kind)} : {kind}")

    # functions

    def start(self) -> dict[str, list[str]]:
        """A value of each kind, of `%x`, and of `%n` and `%zero` where a program is not plain."""
        t, function, items = self.t, self.function, self.list
        made = {
            C: f"%c0 = relay.less %n, %zero : ({N}, {N}) -> {C}",
            self.pair: f"%p0 = relay.tuple(%x, %x) : ({t}, {t}) -> {self.pair}",
            function: f"%f0 = relay.fn(%a: {t}) -> {t} {{ %n0 = relay.negative %a : {t} relay.yield %n0 : {t} }}",
            items: f'%l0 = relay.construct "nil"() : () -> {items}',
            self.maker: f"%m0 = relay.closure @capture(%l0) : ({items}) -> ({self.maker})",
            self.functions: f'%fs0 = relay.construct "nil"() : () -> {self.functions}',
            self.tree: f'%d0 = relay.construct "leaf"(%x) : ({t}) -> {self.tree}',
            "": f"%i0 = relay.tuple(%f0, %l0) : ({function}, {items}) -> tuple<{function}, {items}>",
            self.nested: f"%t0 = relay.tuple(%n, %i0) : ({N}, tuple<{function}, {items}>) -> {self.nested}",
            self.ref: f"%r0 = relay.ref_create %x : ({t}) -> {self.ref}",
            self.cell: f"%s0 = relay.ref_create %l0 : ({items}) -> {self.cell}",
        }
        if self.plain:
            made = {kind: text for kind, text in made.items() if kind in self.kinds}
        for text in made.values():
            self.line(1, text)
        names = {kind: [text.split(" ")[0]] for kind, text in made.items() if kind}
        return {t: ["%x"], **({} if self.plain else {N: ["%n", "%zero"], "count": []}), **names}

    def counting(self, name: str, takes: str, kind: str, length: int) -> None:
        """A function of a count, which it and others like it are called with one less of."""
        self.recursive[name] = takes, kind
        written = f"({kind})" if kind.startswith("(") else kind
        self.line(0, f"relay.func private {name}(%n: {N}, %x: {self.t}, %other: {takes}) -> {written} {{")
        self.line(1, f"%zero = relay.constant dense<0> : {N}")
        self.line(1, f"%one = relay.constant dense<1> : {N}")
        seen = _with(self.start(), (takes, "%other"))
        self.line(1, f"%go_on = relay.greater %n, %zero : ({N}, {N}) -> {C}")
        self.line(1, f"%y = relay.if %go_on : ({C}) -> {written} {{")
        self.line(2, f"%m = relay.subtract %n, %one : ({N}, {N}) -> {N}")
        self.calls = 2
        inner = self.block(_with(seen, ("count", "%m")), 2, length)
        self.line(2, f"relay.yield {self.pick(inner, kind)} : {kind}")
        self.line(1, "} else {")
        self.arm(kind, seen, 1)
        self.line(1, "}")
        self.line(1, f"relay.return %y : {kind}")
        self.line(0, "}")

    def functions_around(self, length: int) -> None:
        """What closures are of, and functions that count down."""
        t, items, function = self.t, self.list, self.function
        self.line(0, f"relay.func private @adder(%a: {t}, %b: {t}) -> {t} {{")
        self.line(1, f"%0 = relay.add %a, %b : ({t}, {t}) -> {t} relay.return %0 : {t} }}")
        self.line(0, f"relay.func private @capture(%l: {items}, %a: {t}) -> ({function}) {{")
        self.line(1, f"%f = relay.fn(%b: {t}) -> {t} {{ %0 = relay.call @sum(%b, %l) : ({t}, {items}) -> {t}")
        self.line(1, f"%1 = relay.minimum %0, %a : ({t}, {t}) -> {t} relay.yield %1 : {t} }}")
        self.line(1, f"relay.return %f : {function} }}")
        for number in range(self.random.choice([0, 1, 1, 2])):
            takes, kind = self.random.choice(self.kinds), self.random.choice(self.kinds)
            self.counting(f"@g{number}", takes, kind, length // 2)

    def program(self, length: int) -> str:
        t, counts = self.t, [] if self.plain else [("count", "%few")]
        if not self.plain:
            self.functions_around(length)
        self.line(0, f"relay.func @main(%x: {t}, %y: {t}) -> ({t}, {t}, {t}) {{")
        if not self.plain:
            self.line(1, f"%zero = relay.constant dense<0> : {N}")
            self.line(1, f"%n = relay.constant dense<{self.random.randint(-2, 4)}> : {N}")
            self.line(1, f"%few = relay.constant dense<{self.random.randint(1, 3)}> : {N}")
        self.calls = 2
        last = self.block(_with(self.start(), (t, "%y"), *counts), 1, length)
        given = [self.pick(last, t), last[t][-1]]
        self.line(1, f"%end = relay.ref_read {self.pick(last, self.ref)} : ({self.ref}) -> {t}")
        self.line(1, f"relay.return {', '.join(given)}, %end : {t}, {t}, {t}")
        self.line(0, "}")
        return self.prelude() + "\n".join(self.lines) + "\n"


def _with(seen: dict[str, list[str]], *more: tuple[str, str]) -> dict[str, list[str]]:
    """What is seen, and further values."""
    made = {**seen}
    for kind, name in more:
        made[kind] = [*made[kind], name]
    return made


def random_language(seed: int, length: int = 12, element: str = "f32", *, plain: bool = False) -> str:
    """A module with a function `@main` of two tensors of this element type, which gives three."""
    return _Program(seed, element, plain).program(length)
