"""Lists, options and trees, and functions on them for any types: TVM's prelude.

    prelude = relay.Prelude()
    _, cons, nil = prelude.mod.get_type("List")
    prelude.sum(cons(relay.const(1), cons(relay.const(2), nil())))      # 3, once `prelude.mod` evaluates it

`hd`, `tl`, `nth`, `update` and `foldr1` fail on lists that are too short.
"""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# Functions are written as lambdas of expressions.

from __future__ import annotations

from ...dialects.relay.types import ParamType
from ...dialects.support.arguments import checked
from .data import Constructor, GlobalTypeVar, TypeData
from .expr import Expr, GlobalVar, If, Tuple, const
from .module import STANDARD, IRModule
from .ranked_tensor_arrays import TensorArrayOps
from .tensor_array_names import Extents, constructor_of, name_of, ranked_name_of
from .ty import scalar_type
from .written_functions import CONS, INT, LIST, NIL, A, Definitions, Writer, function, match, pair, to

B, C = ParamType("b"), ParamType("c")
OPTION, TREE, NAT = (GlobalTypeVar(name) for name in ("Option", "Tree", "nat"))
SOME, NONE = Constructor("Some", [A], OPTION), Constructor("None", [], OPTION)
ROSE = Constructor("Rose", [A, LIST(TREE(A))], TREE)
ZERO, NEXT = Constructor("z", [], NAT), Constructor("s", [NAT()], NAT)
BOOL = scalar_type("bool")
ARRAYS_OF = ("float32", "float16", "float64", "int32", "uint8", "int8", "int16", "uint16", "int64")
"""The element types of tensors for whose arrays a prelude has the data types."""


def _lists(write: Writer) -> None:
    of_a, of_b = LIST(A), LIST(B)
    less = lambda n: n - const(1)  # noqa: E731
    at_zero = lambda n, then, otherwise: If(_is_zero(n), then, otherwise)  # noqa: E731
    define = write.define
    define("hd", to(of_a, A), lambda _, xs: match(xs, (CONS, lambda x, _: x)))
    define("tl", to(of_a, of_a), lambda _, xs: match(xs, (CONS, lambda _, rest: rest)))
    define(
        "nth",
        to(of_a, INT, A),
        lambda nth, xs, n: match(xs, (CONS, lambda x, rest: at_zero(n, x, nth(rest, less(n))))),
    )
    define(
        "update",
        to(of_a, INT, A, of_a),
        lambda update, xs, n, v: match(
            xs, (CONS, lambda x, rest: at_zero(n, CONS(v, rest), CONS(x, update(rest, less(n), v))))
        ),
    )
    define(
        "length", to(of_a, INT), lambda f, xs: match(xs, (CONS, lambda _, r: const(1) + f(r)), (NIL, lambda: const(0)))
    )
    define(
        "map",
        to(to(A, B), of_a, of_b),
        lambda map, f, xs: match(xs, (CONS, lambda x, rest: CONS(f(x), map(f, rest))), (NIL, NIL)),
    )
    define(
        "foldl",
        to(to(A, B, A), A, of_b, A),
        lambda fold, f, acc, xs: match(xs, (CONS, lambda x, rest: fold(f, f(acc, x), rest)), (NIL, lambda: acc)),
    )
    define(
        "foldr",
        to(to(A, B, B), B, of_a, B),
        lambda fold, f, acc, xs: match(xs, (CONS, lambda x, rest: f(x, fold(f, acc, rest))), (NIL, lambda: acc)),
    )
    define(
        "foldr1",
        to(to(A, A, A), of_a, A),
        lambda fold, f, xs: match(
            xs, (CONS, lambda x, rest: match(rest, (NIL, lambda: x), otherwise=f(x, fold(f, rest))))
        ),
    )
    define(
        "concat",
        to(of_a, of_a, of_a),
        lambda concat, xs, ys: match(xs, (CONS, lambda x, rest: CONS(x, concat(rest, ys))), (NIL, lambda: ys)),
    )
    define(
        "filter",
        to(to(A, BOOL), of_a, of_a),
        lambda filter, f, xs: match(
            xs, (CONS, lambda x, rest: If(f(x), CONS(x, filter(f, rest)), filter(f, rest))), (NIL, NIL)
        ),
    )
    define(
        "zip",
        to(of_a, of_b, LIST(pair(A, B))),
        lambda zip, xs, ys: match(
            xs,
            (CONS, lambda x, r: match(ys, (CONS, lambda y, s: CONS(Tuple([x, y]), zip(r, s))), (NIL, NIL))),
            (NIL, NIL),
        ),
    )
    fold = write.names["foldl"]
    define("rev", to(of_a, of_a), lambda _, xs: fold(function(lambda done, x: CONS(x, done), of_a, A), NIL(), xs))
    define("sum", to(LIST(INT), INT), lambda _, xs: fold(function(lambda x, y: x + y, INT, INT), const(0), xs))


def _is_zero(n: Expr) -> Expr:
    from .namespace import find

    return find("equal")(n, const(0))


def _accumulating(write: Writer) -> None:
    """Functions that carry a value along."""
    carried, fold = pair(A, LIST(C)), write.names

    def step(f: Expr, acc: Expr, x: Expr) -> Expr:
        made = f(acc[0], x)
        return Tuple([made[0], CONS(made[1], acc[1])])

    type = to(to(A, B, pair(A, C)), A, LIST(B), carried)
    write.define(
        "map_accuml",
        type,
        lambda _, f, init, xs: fold["foldl"](
            function(lambda acc, x: step(f, acc, x), carried, B), Tuple([init, NIL()]), xs
        ),
    )
    write.define(
        "map_accumr",
        type,
        lambda _, f, init, xs: fold["foldr"](
            function(lambda x, acc: step(f, acc, x), B, carried), Tuple([init, NIL()]), xs
        ),
    )
    grows = to(A, OPTION(pair(A, B)))
    write.define(
        "unfoldr",
        to(grows, A, LIST(B)),
        lambda unfold, f, seed: match(f(seed), (SOME, lambda v: CONS(v[1], unfold(f, v[0]))), (NONE, NIL)),
    )
    write.define(
        "unfoldl_onto",
        to(grows, A, LIST(B), LIST(B)),
        lambda unfold, f, seed, done: match(
            f(seed), (SOME, lambda v: unfold(f, v[0], CONS(v[1], done))), (NONE, lambda: done)
        ),
    )
    write.define("unfoldl", to(grows, A, LIST(B)), lambda _, f, seed: write.names["unfoldl_onto"](f, seed, NIL()))


def _others(write: Writer) -> None:
    fold = write.names["foldl"]
    write.define(
        "tmap",
        to(to(A, B), TREE(A), TREE(B)),
        lambda tmap, f, t: match(
            t, (ROSE, lambda x, rest: ROSE(f(x), write.names["map"](function(lambda y: tmap(f, y), TREE(A)), rest)))
        ),
    )
    write.define(
        "size",
        to(TREE(A), INT),
        lambda size, t: match(
            t, (ROSE, lambda _, r: const(1) + fold(function(lambda n, y: n + size(y), INT, TREE(A)), const(0), r))
        ),
    )
    write.define("id", to(A, A), lambda _, x: x)
    write.define("compose", to(to(B, C), to(A, B), to(A, C)), lambda _, f, g: function(lambda x: f(g(x)), A))
    write.define("flip", to(to(A, B, C), to(B, A, C)), lambda _, f: function(lambda y, x: f(x, y), B, A))
    write.define(
        "iterate",
        to(to(A, A), INT, to(A, A)),
        lambda iterate, f, n: If(
            _is_zero(n), function(lambda x: x, A), function(lambda x: f(iterate(f, n - const(1))(x)), A)
        ),
    )


class Prelude(Definitions):
    """A module with the data types `List`, `Option` and `Tree`, and functions on them, each an attribute too: its name;
    and with those of arrays of tensors, whose functions are put into it when they are first asked for.

    Args:
        mod: the module to which they are added; a new one without.
    """

    @checked
    def __init__(self, mod: IRModule | None = None):
        super().__init__(IRModule() if mod is None else mod)
        import_prelude(self.mod)
        for dtype in ARRAYS_OF:
            TensorArrayOps(self, dtype).define_tensor_adt()

    def get_name(self, canonical: str, dtype: str) -> str:
        """What a function, a type or a constructor of arrays of tensors of any shapes is called."""
        return ranked_name_of(canonical, dtype)

    def get_global_var(self, canonical: str, dtype: str) -> GlobalVar:
        """A function on arrays of tensors of any shapes; see `TensorArrayOps`, which this registers for `dtype`.

        Raises:
            KeyError: there is none of that name.
        """
        self._have_arrays_of(dtype)
        return self.mod.get_global_var(self.get_name(canonical, dtype))

    def get_type(self, canonical: str, dtype: str) -> GlobalTypeVar:
        """The data type of their elements, `tensor_t`.

        Raises:
            KeyError: there is none of that name.
        """
        self._have_arrays_of(dtype)
        return self.mod.get_global_type_var(self.get_name(canonical, dtype))

    def get_ctor(self, ty_name: str, canonical: str, dtype: str) -> Constructor:
        """What makes values of the data type `ty_name` of them.

        Raises:
            KeyError: there is no such data type, or it has no such constructor.
        """
        self._have_arrays_of(dtype)
        return constructor_of(self.mod, ty_name, self.get_name(canonical, dtype))

    def get_tensor_ctor(self, canonical: str, dtype: str) -> Constructor:
        """What makes their elements: `tensor_nil`, or `tensor2` of a matrix.

        Raises:
            KeyError: there is no such constructor.
        """
        return self.get_ctor(self.get_name("tensor_t", dtype), canonical, dtype)

    def _have_arrays_of(self, dtype: str) -> None:
        if self.get_name("tensor_array", dtype) not in self.mod:
            TensorArrayOps(self, dtype).register()

    def get_name_static(self, canonical: str, dtype: str, shape: Extents, batch_dim: int | None = None) -> str:
        """What a function, a type or a constructor of arrays of tensors of a shape is called."""
        return name_of(canonical, dtype, shape, batch_dim)

    def get_global_var_static(
        self, canonical: str, dtype: str, shape: Extents, batch_dim: int | None = None
    ) -> GlobalVar:
        """A function on arrays of tensors of a shape; see `StaticTensorArrayOps`.

        Raises:
            KeyError: they were not registered.
        """
        return self.mod.get_global_var(name_of(canonical, dtype, shape, batch_dim))

    def get_type_static(self, canonical: str, dtype: str, shape: Extents) -> GlobalTypeVar:
        """The data type of their elements, `tensor_t`.

        Raises:
            KeyError: they were not registered.
        """
        return self.mod.get_global_type_var(name_of(canonical, dtype, shape))

    def get_ctor_static(self, ty_name: str, name: str, dtype: str, shape: Extents) -> Constructor:
        """What makes values of the data type `ty_name` of them.

        Raises:
            KeyError: they were not registered, or it has no such constructor.
        """
        return constructor_of(self.mod, name_of(ty_name, dtype, shape), name_of(name, dtype, shape))

    def get_tensor_ctor_static(self, name: str, dtype: str, shape: Extents) -> Constructor:
        """What makes their elements: `tensor_constructor` or `tensor_nil`.

        Raises:
            KeyError: they were not registered, or there is no such constructor.
        """
        return self.get_ctor_static("tensor_t", name, dtype, shape)


def import_prelude(module: IRModule) -> None:
    """Put lists, options and trees, and functions on them, into a module."""
    for each in TYPES:
        module[each.header] = each
    write = Writer(module)
    for part in (_lists, _accumulating, _others):
        part(write)


def import_numbers(module: IRModule) -> None:
    """Put the natural numbers, `z` and `s` of one before, into a module."""
    module[NAT] = NUMBERS
    write = Writer(module)
    write.define(
        "nat_double", to(NAT(), NAT()), lambda f, n: match(n, (ZERO, ZERO), (NEXT, lambda m: NEXT(NEXT(f(m)))))
    )
    write.define(
        "nat_add",
        to(NAT(), NAT(), NAT()),
        lambda add, n, m: match(m, (ZERO, lambda: n), (NEXT, lambda k: NEXT(add(n, k)))),
    )
    write.define(
        "nat_iterate",
        to(to(A, A), NAT(), to(A, A)),
        lambda iterate, f, n: match(
            n,
            (ZERO, lambda: function(lambda x: x, A)),
            (NEXT, lambda m: function(lambda x: f(iterate(f, m)(x)), A)),
        ),
    )


def import_core(module: IRModule) -> None:
    """Put the type of memory, of which nothing is made here, into a module."""
    module[STORAGE] = TypeData(STORAGE, [])


TYPES = [TypeData(LIST, [A], [CONS, NIL]), TypeData(OPTION, [A], [SOME, NONE]), TypeData(TREE, [A], [ROSE])]
"""A `List[a]` is `Cons(a, List[a])` or `Nil`, an `Option[a]` is `Some(a)` or `None`, a `Tree[a]` is `Rose(a,
List[Tree[a]])`."""
NUMBERS = TypeData(NAT, [], [ZERO, NEXT])
"""`nat` is `z` or `s(nat)`."""
STORAGE = GlobalTypeVar("Storage")
STANDARD.update({"core.rly": import_core, "prelude.rly": import_prelude, "nat.rly": import_numbers})
