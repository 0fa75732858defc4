"""A function that is called once is moved to where it is called: each operation once, however deep calls are nested."""

import pytest
from native import parse
from xdsl.context import Context
from xdsl.ir import Block, Operation

from weft.dialects.relay.core import FuncOp
from weft.transforms.relay.inline import InlinePass

TYPE = "tensor<4xf32>"


def chain(depth: int, calls: int = 1) -> str:
    """`depth` functions, each of which calls the one before it so often, and has an operator of its own."""
    texts = [f"relay.func @main(%x: {TYPE}) -> {TYPE} {{ %y = relay.call @f{depth - 1}(%x) : ({TYPE}) -> {TYPE}"]
    texts.append(f"relay.return %y : {TYPE} }}")
    for number in range(depth):
        texts.append(f"relay.func private @f{number}(%x: {TYPE}) -> {TYPE} {{ %0 = relay.tanh %x : {TYPE}")
        for call in range(calls if number else 0):
            texts.append(f"%{call + 1} = relay.call @f{number - 1}(%{call}) : ({TYPE}) -> {TYPE}")
        texts.append(f"relay.return %{calls if number else 0} : {TYPE} }}")
    return "\n".join(texts)


def test_a_chain_of_calls_moves_each_operation_once(monkeypatch: pytest.MonkeyPatch) -> None:
    depth = 60
    module = parse(chain(depth))
    operators = {op for f in module.ops if isinstance(f, FuncOp) for op in f.body.block.ops if op.name == "relay.tanh"}
    put = 0
    insert = Block.insert_op_before

    def counted(self: Block, new: Operation, old: Operation) -> None:
        nonlocal put
        put += 1
        insert(self, new, old)

    monkeypatch.setattr(Block, "insert_op_before", counted)
    InlinePass().apply(Context(), module)
    (main,) = module.ops
    assert isinstance(main, FuncOp)
    *left, _ = main.body.block.ops
    assert set(left) == operators and put <= 3 * depth
    main.verify()


def test_what_is_called_twice_is_copied() -> None:
    module = parse(chain(5, 2))
    InlinePass().apply(Context(), module)
    (main,) = module.ops
    assert isinstance(main, FuncOp)
    assert len(list(main.body.block.ops)) == 1 + 2**5 - 1
    main.verify()


def test_what_was_moved_into_a_function_that_is_copied_is_erased_with_it() -> None:
    texts = [f"relay.func @main(%v0: {TYPE}) -> {TYPE} {{"]
    pairs = 20  # the functions are erased in any order
    for number in range(2 * pairs):
        texts.append(f"%v{number + 1} = relay.call @g{number // 2}(%v{number}) : ({TYPE}) -> {TYPE}")
    texts.append(f"relay.return %v{2 * pairs} : {TYPE} }}")
    for number in range(pairs):
        for name, does in (
            (f"g{number}", f"call @f{number}(%x) : ({TYPE}) -> {TYPE}"),
            (f"f{number}", f"tanh %x : {TYPE}"),
        ):
            texts.append(
                f"relay.func private @{name}(%x: {TYPE}) -> {TYPE} {{ %0 = relay.{does} relay.return %0 : {TYPE} }}"
            )
    module = parse("\n".join(texts))
    InlinePass().apply(Context(), module)
    (main,) = module.ops
    assert isinstance(main, FuncOp)
    assert [op.name for op in main.body.block.ops] == ["relay.tanh"] * 2 * pairs + ["relay.return"]
    main.verify()


def test_the_operators_of_what_is_moved_keep_their_order() -> None:
    module = parse(
        f"""relay.func @main(%x: {TYPE}) -> {TYPE} {{
          %0 = relay.call @outer(%x) : ({TYPE}) -> {TYPE}
          %1 = relay.call @last(%0) : ({TYPE}) -> {TYPE}
          relay.return %1 : {TYPE}
        }}
        relay.func private @outer(%x: {TYPE}) -> {TYPE} {{
          %0 = relay.call @inner(%x) : ({TYPE}) -> {TYPE}
          %1 = relay.exp %0 : {TYPE}
          relay.return %1 : {TYPE}
        }}
        relay.func private @inner(%x: {TYPE}) -> {TYPE} {{ %0 = relay.tanh %x : {TYPE} relay.return %0 : {TYPE} }}
        relay.func private @last(%x: {TYPE}) -> {TYPE} {{ %0 = relay.sqrt %x : {TYPE} relay.return %0 : {TYPE} }}"""
    )
    InlinePass().apply(Context(), module)
    (main,) = module.ops
    assert isinstance(main, FuncOp)
    assert [op.name for op in main.body.block.ops] == ["relay.tanh", "relay.exp", "relay.sqrt", "relay.return"]


def test_what_stays_for_the_extents_that_it_knows_has_its_own_calls_inlined() -> None:
    module = parse(
        f"""relay.func @main(%x: tensor<?xf32>) -> {TYPE} {{
          %0 = relay.call @knows(%x) : (tensor<?xf32>) -> {TYPE}
          relay.return %0 : {TYPE}
        }}
        relay.func private @knows(%x: {TYPE}) -> {TYPE} {{
          %0 = relay.call @inner(%x) : ({TYPE}) -> {TYPE}
          relay.return %0 : {TYPE}
        }}
        relay.func private @inner(%x: {TYPE}) -> {TYPE} {{ %0 = relay.tanh %x : {TYPE} relay.return %0 : {TYPE} }}"""
    )
    InlinePass().apply(Context(), module)
    assert [op.sym_name.data for op in module.ops if isinstance(op, FuncOp)] == ["main", "knows"]
    assert "relay.call @inner" not in str(module) and "relay.call @knows" in str(module)


def test_a_function_of_open_extents_is_inlined_where_they_are_known() -> None:
    module = parse(
        f"""relay.func @main(%x: {TYPE}, %y: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {{
          %0 = relay.call @any(%x) : ({TYPE}) -> tensor<?xf32>
          %1 = relay.call @any(%y) : (tensor<?xf32>) -> tensor<?xf32>
          relay.return %0, %1 : tensor<?xf32>, tensor<?xf32>
        }}
        relay.func private @any(%x: tensor<?xf32>) -> tensor<?xf32> {{
          %0 = relay.tanh %x : tensor<?xf32>
          relay.return %0 : tensor<?xf32>
        }}"""
    )
    InlinePass().apply(Context(), module)
    assert "relay.call" not in str(module)
