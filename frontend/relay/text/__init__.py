"""Relay's own text read into modules and expressions: TVM's `relay.parse`, `parse_expr` and `fromtext`.

module = relay.parse('#[version = "0.0.5"] def @main(%x: Tensor[(2), float32]) { add(%x, 1f) }')
three = relay.parse_expr("1 + 2")
"""

from __future__ import annotations

from typing import cast

from ....dialects.relay.functions import Trees
from ....dialects.support.arguments import checked
from ....dialects.support.diagnostics import Diagnostic
from ....transforms.relay.infer_type import InferTypePass
from ...mlir import parse_mlir
from ..expr import Expr
from ..module import IRModule
from .lexer import Kind, Source
from .lexer import TextError as TextError
from .metadata import Metadata, Table
from .parser import Given, RelayParser
from .printer import expression_text, function_text, module_text

Expr.text_of = expression_text
Trees.text = function_text
IRModule.text_of = module_text


@checked
def parse(
    source: str,
    source_name: str = "from_string",
    init_module: IRModule | None = None,
    init_meta_table: Table | None = None,
) -> IRModule:
    """The module that a text is: of Relay, or of MLIR, as `str(module)` gives it.

    Args:
        source: the text.
        source_name: what errors call it.
        init_module: a module whose functions and data types are known in the text, and in the result.
        init_meta_table: what `meta[key][number]` stands for: `{"relay.Constant": [relay.const(...)]}`. What
            stands behind the text, `#[metadata]`, is read as well, and comes before it.

    Raises:
        Diagnostic: it is no text of a module, or what it says does not fit.
    """
    text = Source(source_name, source)
    if init_module is None and _is_mlir(source):
        return IRModule.of(parse_mlir(source, source_name))
    try:
        parser = _parser(
            text, IRModule() if init_module is None else IRModule.of(init_module.clone()), init_meta_table or {}
        )
        return cast(IRModule, InferTypePass()(parser.read_module()))
    except RecursionError:
        raise TextError("the text is nested too deep", text.place(0)) from None


@checked
def fromtext(source: str, source_name: str = "from_string") -> IRModule:
    """The module that a text is; see `parse`.

    Raises:
        Diagnostic: it is no text of a module, or what it says does not fit.
    """
    return parse(source, source_name)


@checked
def parse_expr(source: str) -> Given:
    """The expression that a text is, or the operator, or the name of a function.

    Raises:
        Diagnostic: it is no text of an expression, or what it says does not fit.
    """
    text = Source("string", source)
    if _is_mlir(source):
        found = [*IRModule.of(parse_mlir(source, "string")).functions.values()]
        if len(found) != 1:
            raise TextError("a text of one function is an expression, and this has several", text.place(0))
        return found[0]
    try:
        return _parser(text, IRModule(), {}).read_expression()
    except RecursionError:
        raise TextError("the text is nested too deep", text.place(0)) from None


def _is_mlir(source: str) -> bool:
    """Whether a text is of MLIR: begins as a module or a function does there."""
    return source.lstrip().startswith(("builtin.module", "relay.func", "relay.adt"))


def _parser(text: Source, module: IRModule, table: Table) -> RelayParser:
    parser = RelayParser(text, module, table)
    for token in parser.words:
        if token.kind is Kind.METADATA:
            try:
                said = Metadata.read(token.text)
            except Diagnostic as error:
                parser.fail(f"'#[metadata]' is not read: {error.message}", token)
            parser.table = {**table, **said}
    return parser
