"""The rewrite driver: dispatch, order, convergence, locations, statistics, listeners, depth."""

from __future__ import annotations

import pytest
from xdsl.context import Context
from xdsl.dialects import arith, scf, test
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, IntegerAttr, ModuleOp, StringAttr, UnitAttr, i64
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.parser import Parser
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    RewritePattern,
    op_type_rewrite_pattern,
)

from weft.dialects.relay.ops.elementwise import AbsOp
from weft.dialects.relay.ops.nn.activation import ReluOp
from weft.dialects.support.diagnostics import InternalError
from weft.transforms.infra import PassContext, RewriteDriver, RewriteListener, active_run
from weft.transforms.infra.checking import PassStatistics
from weft.transforms.infra.driver import NonConvergenceError, observed_by
from weft.transforms.infra.passes import PatternPass
from weft.transforms.infra.pattern_table import pattern_op_types
from weft.transforms.infra.walk import clone, erase, walk, walk_post_order


class AddZero(RewritePattern):
    """x + 0 -> x."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.AddiOp, rewriter: PatternRewriter) -> None:
        if isinstance(c := op.rhs.owner, arith.ConstantOp) and c.value == IntegerAttr(0, i64):
            rewriter.replace(op, [], [op.lhs])


class MulToAdd(RewritePattern):
    """x * y -> x + y."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.MuliOp, rewriter: PatternRewriter) -> None:
        rewriter.replace(op, arith.AddiOp(op.lhs, op.rhs))


class AddToMul(RewritePattern):
    """x + y -> x * y."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.AddiOp, rewriter: PatternRewriter) -> None:
        rewriter.replace(op, arith.MuliOp(op.lhs, op.rhs))


class Mark(RewritePattern):
    """Marks every operation, of any type, in the order in which they are looked at."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        if isinstance(name := op.attributes.get("n"), StringAttr):
            self.seen.append(name.data)


def parse(text: str) -> ModuleOp:
    return Parser(PassContext.current().ir_context, text).parse_module()


SUM = """
%x = "test.op"() : () -> i64
%zero = arith.constant 0 : i64
%a = arith.addi %x, %zero : i64
%b = arith.addi %a, %zero : i64
"test.op"(%b) : (i64) -> ()
"""


def names(module: ModuleOp) -> list[str]:
    return [op.name for op in module.ops]


def test_patterns_are_applied_until_none_matches_and_leave_no_dead_code():
    module = parse(SUM)
    assert RewriteDriver([AddZero()]).rewrite_module(module)
    assert names(module) == ["test.op", "test.op"]
    module.verify()


def test_what_was_dead_before_is_not_erased():
    module = parse(SUM + "%dead = arith.constant 7 : i64")
    RewriteDriver([AddZero()]).rewrite_module(module)
    assert names(module) == ["test.op", "test.op", "arith.constant"]


def test_dead_code_can_be_left():
    module = parse(SUM)
    RewriteDriver([AddZero()], dead_code=False).rewrite_module(module)
    assert names(module) == ["test.op", "arith.constant", "test.op"]


class DropIf(RewritePattern):
    """Erases what branches."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: scf.IfOp, rewriter: PatternRewriter) -> None:
        rewriter.erase(op)


def test_what_is_erased_with_a_region_is_not_looked_at_again():
    module = parse("""
        %c, %x = "test.op"() : () -> (i1, i64)
        scf.if %c {
          %a = arith.addi %x, %x : i64
          %b = arith.addi %a, %a : i64
          %d = arith.addi %b, %x : i64
          scf.yield
        }
    """)
    RewriteDriver([DropIf(), AddToMul()]).rewrite_module(module)
    assert names(module) == ["test.op"]


def test_the_driver_says_when_nothing_changed():
    assert not RewriteDriver([MulToAdd()]).rewrite_module(parse(SUM))


def test_new_operations_are_rewritten_too_unless_told_not():
    module = parse(SUM.replace("arith.addi", "arith.muli"))
    RewriteDriver([MulToAdd(), AddZero()]).rewrite_module(module)
    assert names(module) == ["test.op", "test.op"]
    module = parse(SUM.replace("arith.addi", "arith.muli"))
    RewriteDriver([MulToAdd(), AddZero()], recursive=False).rewrite_module(module)
    assert names(module) == ["test.op", "arith.constant", "arith.addi", "arith.addi", "test.op"]


def test_op_types_of_a_pattern_are_found():
    class Two(RewritePattern):
        @op_type_rewrite_pattern
        def match_and_rewrite(self, op: arith.AddiOp | arith.MuliOp, rewriter: PatternRewriter) -> None: ...

    class Declared(RewritePattern):
        op_types = (arith.SubiOp,)

        def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None: ...

    assert pattern_op_types(AddZero()) == (arith.AddiOp,)
    assert pattern_op_types(Two()) == (arith.AddiOp, arith.MuliOp)
    assert pattern_op_types(Declared()) == (arith.SubiOp,)
    assert pattern_op_types(Mark()) == (Operation,)


def test_a_pattern_is_tried_on_operations_of_its_type_only():
    driver = RewriteDriver([MulToAdd(), AddZero()])
    driver.rewrite_module(parse(SUM))
    assert driver.statistics["MulToAdd"].tried == 0
    assert (driver.statistics["AddZero"].tried, driver.statistics["AddZero"].matched) == (2, 2)


def test_a_pattern_about_a_base_class_sees_its_subclasses():
    class Integer(RewritePattern):
        op_types = (arith.SignlessIntegerBinaryOperation,)

        def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None: ...

    driver = RewriteDriver([Integer()])
    driver.rewrite_module(parse(SUM))
    assert driver.statistics["Integer"].tried == 2


def test_xdsl_pattern_lists_are_taken_apart():
    driver = RewriteDriver([GreedyRewritePatternApplier([AddZero(), MulToAdd()])])
    assert list(driver.statistics) == ["AddZero", "MulToAdd"]


def test_time_is_measured_on_demand():
    plain, timed = RewriteDriver([AddZero()]), RewriteDriver([AddZero()], timing=True)
    plain.rewrite_module(parse(SUM))
    timed.rewrite_module(parse(SUM))
    assert plain.statistics["AddZero"].nanoseconds == 0 < timed.statistics["AddZero"].nanoseconds


NEST = """
"test.op"() ({
  "test.op"() {n = "b"} : () -> ()
  "test.op"() {n = "c"} : () -> ()
}) {n = "a"} : () -> ()
"test.op"() {n = "d"} : () -> ()
"""


@pytest.mark.parametrize(
    "post_order, reverse, expected",
    [(False, False, "abcd"), (True, False, "bcad"), (False, True, "dcba"), (True, True, "dacb")],
)
def test_operations_are_looked_at_in_the_order_asked_for(post_order: bool, reverse: bool, expected: str):
    mark = Mark()
    RewriteDriver([mark], post_order=post_order, reverse=reverse).rewrite_module(parse(NEST))
    assert "".join(mark.seen) == expected


def test_a_pattern_that_undoes_another_is_named_with_it():
    with pytest.raises(NonConvergenceError) as caught:
        RewriteDriver([AddZero(), MulToAdd(), AddToMul()]).rewrite_module(
            parse("""
            %x = "test.op"() : () -> i64
            %a = arith.addi %x, %x : i64
            "test.op"(%a) : (i64) -> ()""")
        )
    assert "the patterns AddToMul and MulToAdd do not converge: they seem to undo one another" in caught.value.message
    assert isinstance(caught.value, InternalError)


def test_a_pattern_that_goes_on_for_ever_is_named_with_the_place():
    class Touch(RewritePattern):
        pattern_name = "touch"

        @op_type_rewrite_pattern
        def match_and_rewrite(self, op: arith.AddiOp, rewriter: PatternRewriter) -> None:
            rewriter.notify_op_modified(op)

    module = parse(SUM)
    for op in module.ops:
        op.location = FileLineColLoc(StringAttr("m.mlir"), IntAttr(3), IntAttr(5))
    with pytest.raises(NonConvergenceError, match=r"m\.mlir:3:5: error: the pattern touch does not converge"):
        RewriteDriver([Touch()]).rewrite_module(module)


def test_the_driver_can_be_used_again_after_an_error():
    class Fails(RewritePattern):
        @op_type_rewrite_pattern
        def match_and_rewrite(self, op: arith.AddiOp, rewriter: PatternRewriter) -> None:
            if fail:
                raise ZeroDivisionError

    fail = True
    driver = RewriteDriver([Fails()])
    with pytest.raises(ZeroDivisionError) as caught:
        driver.rewrite_module(parse(SUM))
    assert caught.value.__notes__ == ["while applying the pattern Fails to 'arith.addi' at loc(unknown)"]
    fail = False
    assert not driver.rewrite_module(parse(SUM))


def test_replacements_keep_the_location_and_the_name():
    module = parse(SUM.replace("arith.addi", "arith.muli"))
    place = FileLineColLoc(StringAttr("m.mlir"), IntAttr(4), IntAttr(1))
    for op in module.ops:
        op.location = place
    RewriteDriver([MulToAdd()]).rewrite_module(module)
    new = [op for op in module.ops if isinstance(op, arith.AddiOp)]
    assert [op.location for op in new] == [place, place]
    assert [op.result.name_hint for op in new] == ["a", "b"]


def test_operations_inside_of_a_replacement_get_the_location_too():
    class Wrap(RewritePattern):
        @op_type_rewrite_pattern
        def match_and_rewrite(self, op: arith.AddiOp, rewriter: PatternRewriter) -> None:
            inner = test.TestOp(attributes={"inner": UnitAttr()})
            region = Region(Block([inner]))
            rewriter.replace(op, test.TestOp(result_types=[i64], regions=[region]))

    module = parse(SUM)
    place = FileLineColLoc(StringAttr("m.mlir"), IntAttr(4), IntAttr(1))
    for op in module.ops:
        op.location = place
    RewriteDriver([Wrap()]).rewrite_module(module)
    assert [op.location for op in walk(module) if "inner" in op.attributes] == [place, place]


def test_listeners_hear_of_rewrites():
    events: list[str] = []
    listener = RewriteListener(
        operation_insertion_handler=[lambda op: events.append(f"insert {op.name}")],
        operation_removal_handler=[lambda op: events.append(f"remove {op.name}")],
        operation_replacement_handler=[lambda op, _: events.append(f"replace {op.name}")],
        pattern_applied_handler=[lambda name, op: events.append(f"{name} on {op.name}")],
    )
    module = parse("""%x = "test.op"() : () -> i64
        %a = arith.muli %x, %x : i64
        "test.op"(%a) : (i64) -> ()""")
    RewriteDriver([MulToAdd()], listener=listener).rewrite_module(module)
    assert events == ["insert arith.addi", "replace arith.muli", "remove arith.muli", "MulToAdd on arith.muli"]


def test_observers_hear_of_every_driver_in_their_block():
    names: list[str] = []
    listener = RewriteListener(pattern_applied_handler=[lambda name, op: names.append(name)])
    with observed_by(listener):
        RewriteDriver([AddZero()]).rewrite_module(parse(SUM))
    RewriteDriver([AddZero()]).rewrite_module(parse(SUM))
    assert names == ["AddZero", "AddZero"]


def test_operations_are_folded_where_a_context_is_given():
    module = parse("""%x = arith.constant 2 : i64
        %a = arith.addi %x, %x : i64
        "test.op"(%a) : (i64) -> ()""")
    driver = RewriteDriver([], folding=PassContext.current().ir_context)
    assert driver.rewrite_module(module)
    assert names(module) == ["arith.constant", "test.op"]
    assert driver.statistics["fold"].matched == 1


def test_erased_regions_are_not_looked_at_again():
    class EraseOuter(RewritePattern):
        def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
            if op.attributes.get("n") == StringAttr("a"):
                rewriter.erase(op)

    mark = Mark()
    RewriteDriver([EraseOuter(), mark]).rewrite_module(module := parse(NEST))
    assert "".join(mark.seen) == "dd" and len(list(module.ops)) == 1


def test_a_pattern_pass_reports_changes_and_rewrites():
    class Simplify(PatternPass):
        name = "simplify"

        def patterns(self, ctx: Context) -> list[RewritePattern]:
            return [AddZero()]

    with PassContext(instruments=[statistics := PassStatistics()]):
        once = Simplify()(parse(SUM))
        Simplify()(once)
    first, second = statistics.records
    assert (first.changed, first.rewrites, dict(first.by_op)) == (
        True,
        {"AddZero": 2},
        {"arith.addi": -2, "arith.constant": -1},
    )
    assert (second.changed, second.rewrites) == (False, {})
    assert active_run() is None
    assert "2 x AddZero" in statistics.render()


def test_a_pattern_pass_leaves_marked_functions_alone():
    class ReluToAbs(RewritePattern):
        @op_type_rewrite_pattern
        def match_and_rewrite(self, op: ReluOp, rewriter: PatternRewriter) -> None:
            rewriter.replace(op, AbsOp(op.data))

    class Change(PatternPass):
        name = "change"

        def patterns(self, ctx: Context) -> list[RewritePattern]:
            return [ReluToAbs()]

    text = """
    relay.func @f(%x: tensor<4xf32>) -> tensor<4xf32> ATTRIBUTES {
      %a = relay.nn.relu %x : tensor<4xf32>
      relay.return %a : tensor<4xf32>
    }"""
    both = text.replace("ATTRIBUTES", "") + text.replace("@f", "@g").replace("ATTRIBUTES", "attributes {Extern}")
    result = str(Change()(parse(both)))
    assert result.count("relay.abs") == 1 and result.index("relay.abs") < result.index("relay.nn.relu")
    assert str(Change()(parse(both.replace("attributes {Extern}", "")))).count("relay.abs") == 2


def deep(depth: int) -> ModuleOp:
    """`depth` regions, one in another."""
    op: Operation = test.TestOp(attributes={"n": StringAttr("x")})
    for _ in range(depth):
        block = Block()
        block._first_op = block._last_op = op  # pyright: ignore[reportPrivateUsage]
        op.parent = block  # add_op looks for circles through all levels, which would take quadratic time
        op = test.TestOp(regions=[Region(block)])
    return ModuleOp([op])


def chain(length: int) -> ModuleOp:
    """x + 0 + 0 + ..."""
    zero = arith.ConstantOp(IntegerAttr(0, i64))
    start = test.TestOp(result_types=[i64])
    ops: list[Operation] = [start, zero]
    value: SSAValue = start.results[0]
    for _ in range(length):
        ops.append(arith.AddiOp.create(operands=[value, zero.result], result_types=[i64]))
        value = ops[-1].results[0]
    return ModuleOp([*ops, test.TestOp(operands=[value])])


def test_a_nest_three_thousand_deep_does_not_overflow():
    module = deep(3_000)
    assert sum(1 for _ in walk(module)) == sum(1 for _ in walk_post_order(module)) == 3_002
    copy = clone(module)
    RewriteDriver([mark := Mark()]).rewrite_module(copy)
    assert mark.seen == ["x"]
    erase(next(iter(copy.ops)))
    assert not copy.body.block.ops


def test_a_chain_of_five_thousand_operations_does_not_overflow():
    module = chain(5_000)
    assert len(list(clone(module).ops)) == 5_003
    RewriteDriver([AddZero()]).rewrite_module(module)
    assert names(module) == ["test.op", "test.op"]


def test_cloning_keeps_names_locations_successors_and_outside_operands():
    module = parse("""
        %x = "test.op"() : () -> i64
        %i = arith.constant 0 : index
        scf.for %k = %i to %i step %i {
          "test.op"(%x, %k) : (i64, index) -> ()
          scf.yield
        }
        "test.op"() ({
          "test.termop"() [^bb1] : () -> ()
        ^bb1:
          "test.termop"() [^bb1] : () -> ()
        }) : () -> ()""")
    copy = clone(module)
    assert str(copy) == str(module)
    copy.verify()
    loop = next(op for op in module.ops if isinstance(op, scf.ForOp))
    other = clone(loop)
    assert other.lb is loop.lb and other.body.block.first_op is not loop.body.block.first_op


def test_walks_visit_in_text_order_and_in_post_order():
    module = parse(NEST)

    def order(ops: list[Operation]) -> str:
        return "".join(n.data for op in ops if isinstance(n := op.attributes.get("n"), StringAttr))

    assert order(list(walk(module))) == "abcd" and order(list(walk_post_order(module))) == "bcad"
