"""The bodies of blocks as nodes: each operation on scalars as the expression that TVM's name is for."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects import arith, math, memref, scf
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, MemRefType, i1
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue
from xdsl.traits import is_side_effect_free

from ...extensions import arith as arith_extensions
from ...support.diagnostics import Diagnostic
from ...support.hints import isa
from ...te.expr import Binary, Bitcast, Cast, Check, Const, Expr, Select, Slot, Unary
from ...te.kinds import BinaryKind as B
from ...te.kinds import UnaryKind as U
from ...te.kinds import index
from ...te.spelled import Argument, Choice, Spelled
from ...te.text import type_word
from ..asserts import AssertOp
from ..assumptions import AssumeOp, UndefOp
from ..blocks import BlockOp
from ..calls import AddressOfOp, CallOp, Convention
from ..checks import CheckOp
from ..dot import DotOp
from ..script import words
from ..script.counting import counted_by
from ..script.named_values import FLOAT_PREDICATES, INTEGER_PREDICATES, NamedValues, is_constant
from .affine_expressions import expression
from .buffers import AccessPtr, Buffer, BufferLoad, BufferStore
from .expressions import Call
from .statements import AssertStmt, Evaluate, For, IfThenElse, LetStmt, SeqStmt, Stmt, While, sequence

_BINARY: Mapping[type[Operation], B] = {
    arith.AddfOp: B.ADD, arith.AddiOp: B.ADD, arith.SubfOp: B.SUB, arith.SubiOp: B.SUB,
    arith.MulfOp: B.MUL, arith.MuliOp: B.MUL, arith.DivfOp: B.DIV, arith.DivSIOp: B.DIV,
    arith_extensions.RemFOp: B.TRUNCMOD, arith.RemSIOp: B.TRUNCMOD,
    arith.MaximumfOp: B.MAX, arith.MaxSIOp: B.MAX, arith.MinimumfOp: B.MIN, arith.MinSIOp: B.MIN,
    math.PowFOp: B.POW, math.IPowIOp: B.POW, math.Atan2Op: B.ATAN2, math.CopySignOp: B.COPYSIGN,
    arith.AndIOp: B.AND, arith.OrIOp: B.OR, arith.XOrIOp: B.XOR,
    arith.ShLIOp: B.SHL, arith.ShRSIOp: B.SHR,
}  # fmt: skip
_UNARY: Mapping[type[Operation], U] = {
    kind: U(name)
    for name, kinds in words.UNARY.items()
    if name in {each.value for each in U}
    for kind in kinds
    if kind is not None
} | {arith.NegfOp: U.NEG}
_WORDS: Mapping[type[Operation], str] = {
    kind: name
    for table in (words.UNARY, words.CALLS)
    for name, kinds in table.items()
    for kind in kinds[:2]
    if kind is not None
}
"""Functions that have a word in TVMScript, and no class of expressions."""
_COMPARISONS: Mapping[str, B] = {
    name: B(kind)
    for kind, names in zip(("eq", "ne", "lt", "le", "gt", "ge"), words.COMPARE.values(), strict=True)
    for name in names
}
_BOTH_ONE_BIT = (arith.MaxSIOp, arith.MinSIOp, math.IPowIOp)
"""Operations that have no word for conditions."""


class BodyReader:
    """Reads the body or the init of one block, in which `known` values, the iterators among them, are these nodes,
    and memory is these `buffers`."""

    def __init__(
        self,
        block: BlockOp,
        region: Region,
        known: Mapping[SSAValue, Expr],
        buffers: Mapping[SSAValue, Buffer],
        symbols: Mapping[int, Expr],
    ):
        self.values = NamedValues(block, region)
        self.region = region
        self.known = dict(known)
        self.iters = [self.known[each] for each in region.block.args]
        self.buffers = buffers
        self.symbols = symbols

    def read(self) -> Stmt:
        """The statements.

        Raises:
            Diagnostic: something is no statement or expression.
        """
        return self._statements(list(self.region.block.ops))

    def _statements(self, ops: list[Operation]) -> Stmt:
        made: list[Stmt] = []
        for number, op in enumerate(ops):
            match op:
                case memref.StoreOp():
                    places = [self.index(each) for each in op.indices]
                    made.append(BufferStore(self.buffers[op.memref], self.expr(op.value), places))
                case scf.IfOp() if not op.results:
                    made.append(self._branch(op))
                case scf.WhileOp():
                    made.append(self._while(op))
                case AssertOp():
                    rest = self._statements(ops[number + 1 :])
                    return sequence([*made, AssertStmt(self.expr(op.condition), op.text.data, rest)])
                case AssumeOp():
                    made.append(Evaluate(Spelled("assume", (self.expr(op.condition),), (), i1)))
                case CallOp() | CheckOp() if not any(result.uses for result in op.results):
                    made.append(Evaluate(self._own(op, op.results[0] if op.results else None)))
                case scf.YieldOp():
                    pass
                case _ if self.values.is_read_for_nothing(op):
                    made.append(Evaluate(self._own(op, op.results[0])))
                case _ if any(result in self.values.named for result in op.results):
                    return sequence([*made, self._let(op, ops[number + 1 :])])
                case _:
                    if not isinstance(op, memref.LoadOp | CheckOp | scf.IfOp | CallOp):
                        if not op.name.startswith(("arith.", "math.")) and not is_side_effect_free(op):
                            raise Diagnostic.at(op, "is no statement")
        return sequence(made)

    def _let(self, op: Operation, rest: list[Operation]) -> Stmt:
        """Names for the results of an operation in all that follows."""
        named = [result for result in op.results if result in self.values.named]
        values = [self._own(op, result) for result in named]
        names = [Slot(result.name_hint or "x", result.type) for result in named]
        self.known.update(zip(named, names, strict=True))
        body = self._statements(rest)
        for name, value in zip(reversed(names), reversed(values), strict=True):
            body = LetStmt(name, value, body)
        return body

    def _branch(self, op: scf.IfOp) -> Stmt:
        otherwise = self._inner(op.false_region) if op.false_region.blocks else None
        if isinstance(otherwise, SeqStmt) and not otherwise.seq:
            otherwise = None
        return IfThenElse(self.expr(op.cond), self._inner(op.true_region), otherwise)

    def _inner(self, region: Region) -> Stmt:
        return self._block(region.block) if region.blocks else SeqStmt(())

    def _block(self, block: Block) -> Stmt:
        saved = dict(self.known)
        made = self._statements(list(block.ops))
        self.known = saved
        return made

    def _while(self, op: scf.WhileOp) -> Stmt:
        if (loop := counted_by(op)) is not None:
            low, end = (self.index(each) for each in loop)
            (number,) = op.after_region.block.args
            variable = Slot(number.name_hint or "i", index)
            self.known[number] = variable
            return For(variable, low, end - low, "serial", self._block(op.after_region.block))
        if op.operands or op.results:
            raise Diagnostic.at(op, "is no statement with values that it carries", hint="keep them in a buffer")
        condition = op.before_region.block.last_op
        assert isinstance(condition, scf.ConditionOp)
        return While(self.expr(condition.condition), self._block(op.after_region.block))

    # expressions

    def expr(self, value: SSAValue) -> Expr:
        """A value as an expression."""
        if (found := self.known.get(value)) is not None:
            return found
        if (affine := self.values.affine(value)) is not None and not isinstance(value.owner, arith.ConstantOp):
            return expression(affine, self.iters, self.symbols)
        if not isinstance(value, OpResult):
            raise Diagnostic.at(self.values.block, "its body uses a value from outside that is no buffer")
        return self._own(value.op, value)

    def index(self, value: SSAValue) -> Expr:
        """An index; an integer of another type is one by itself."""
        cast = value.owner
        if value not in self.known and isinstance(cast, arith.IndexCastOp) and cast.input.type not in (i1, index):
            return self.expr(cast.input)
        return self.expr(value)

    def _own(self, op: Operation, result: SSAValue | None) -> Expr:
        """The expression of an operation, whether or not its result has a name."""
        match op:
            case arith.ConstantOp():
                return self._constant(op)
            case memref.LoadOp():
                return BufferLoad(self.buffers[op.memref], [self.index(each) for each in op.indices])
            case CheckOp():
                limit = op.limit if isinstance(op.limit, int) else self.index(op.limit)
                return Check(self.index(op.at), self.index(op.given), limit, op.text.data)
            case DotOp():
                sides = (tuple(map(self.expr, side)) for side in (op.lhs, op.rhs))
                flags = zip(("lhs_unsigned", "rhs_unsigned"), op.unsigned, strict=True)
                said = tuple((name, True) for name, flag in flags if flag)
                return Spelled("dot", (self.expr(op.acc), *sides), said, op.result.type)
            case UndefOp():
                return Spelled("undef", (), (("dtype", type_word(op.result.type)),), op.result.type)
            case CallOp():
                return self._call(op)
            case scf.IfOp() if isinstance(result, OpResult):
                sides = [self._side(region, result.index) for region in (op.true_region, op.false_region)]
                return Select(self.expr(op.cond), sides[0], sides[1], result.type)
            case _ if len(op.results) == 1 and words.is_usual(op) and (usual := self._usual(op)) is not None:
                return usual
            case _:
                return self._spelled(op)

    def _side(self, region: Region, number: int) -> Expr:
        end = region.block.last_op
        assert isinstance(end, scf.YieldOp)
        return self.expr(end.operands[number])

    def _constant(self, op: arith.ConstantOp) -> Const:
        value, type = op.value, op.result.type
        if isa(value, FloatAttr):
            return Const(value.value.data, type)
        if not isinstance(value, IntegerAttr):
            raise Diagnostic.at(op, "is no literal", hint="literals are scalars")
        return Const(bool(value.value.data) if type == i1 else value.value.data, type)

    def _call(self, op: CallOp) -> Call:
        effects = iter(op.effects)
        given: list[object] = []
        for value in op.arguments:
            if not isinstance(value.type, MemRefType):
                passed = self.expr(value)
                given.append(Spelled("cast", (passed, "index"), (), index) if value.type == index else passed)
                continue
            mask = next(effects).data
            if isinstance(place := value.owner, AddressOfOp):
                load = BufferLoad(self.buffers[place.memref], [self.index(each) for each in place.indices])
                given.append(Spelled("address_of", (load, mask), (), index))
            else:
                given.append(AccessPtr(self.buffers[value], mask, Const(0, index), None))
        result = type_word(op.results[0].type) if op.results else None
        word = "call_llvm" if op.kind == Convention.INTRIN else "call"
        word += "_pure" if op.is_pure and op.kind != Convention.PACKED else ""
        word += {Convention.INTRIN: "_intrin", Convention.EXTERN: "_extern", Convention.PACKED: "_packed"}[op.kind]
        return Call(word, result, op.callee.data, tuple(given))

    def _usual(self, op: Operation) -> Expr | None:
        """An operation that an expression is for, if it is one that the expression gives."""
        type = op.results[0].type
        match op:
            case arith.XOrIOp() if op.lhs.type == i1 and is_constant(op.rhs, (1, -1)):
                return Unary(U.NOT, self.expr(op.lhs), i1)
            case arith.CmpiOp() | arith.CmpfOp():
                return self._comparison(op)
            case arith.SelectOp():
                return self._select(op)
            case arith.FloorDivSIOp():
                return None if self.values.is_without_sign(op) else self._pair(B.FLOORDIV, op)
            case arith.DivUIOp() | arith.RemUIOp():
                kind = B.FLOORDIV if isinstance(op, arith.DivUIOp) else B.FLOORMOD
                return self._pair(kind, op) if self.values.is_without_sign(op) else None
            case arith.MaximumfOp() | arith.MinimumfOp() if any(
                isinstance(each.owner, arith.ConstantOp) for each in op.operands
            ):
                return None  # a maximum of a literal is a comparison and a selection
            case arith.BitcastOp():
                return Bitcast(self.expr(op.input), type)
            case _ if op.operands and op.operands[0].type == i1 and isinstance(op, _BOTH_ONE_BIT):
                return None
            case _:
                pass
        if (binary := _BINARY.get(op.__class__)) is not None:
            return self._pair(binary, op)
        if (unary := _UNARY.get(op.__class__)) is not None:
            return Unary(unary, self.expr(op.operands[0]), type)
        if (word := _WORDS.get(op.__class__)) is not None:
            return Spelled(word, tuple(map(self.expr, op.operands)), (), type)
        if len(op.operands) == 1 and words.conversion(op.operands[0].type, type, False, False) is op.__class__:
            return Cast(self.expr(op.operands[0]), type)
        return None

    def _pair(self, kind: B, op: Operation) -> Binary:
        lhs, rhs = map(self.expr, op.operands)
        return Binary(kind, lhs, rhs, op.results[0].type)

    def _comparison(self, op: arith.CmpiOp | arith.CmpfOp) -> Expr | None:
        number = op.predicate.value.data
        if isinstance(op, arith.CmpfOp):
            name, column = FLOAT_PREDICATES[number], 0
            if name == "uno" and op.lhs is op.rhs:
                return Unary(U.ISNAN, self.expr(op.lhs), i1)
        else:
            name, column = INTEGER_PREDICATES[number], 2 if op.lhs.type == i1 else 1
        usual = name in {names[column] for names in words.COMPARE.values()}
        return self._pair(_COMPARISONS[name], op) if usual else None

    def _select(self, op: arith.SelectOp) -> Expr:
        word = None if op.cond in self.known else words.chosen_extremum(op)
        if word is not None:
            return Binary(B(word), self.expr(op.rhs), self.expr(op.lhs), op.result.type)
        return Choice(self.expr(op.cond), self.expr(op.lhs), self.expr(op.rhs), op.result.type)

    def _spelled(self, op: Operation) -> Spelled:
        """An operation by its own name."""
        if op.name not in words.SPELLED or len(op.results) != 1 or op.attributes:
            raise Diagnostic.at(op, "is no expression")
        given: list[Argument] = [self.expr(each) for each in op.operands]
        said: list[tuple[str, str | bool]] = []
        for name, value in op.properties.items():
            if name == "predicate" and isinstance(value, IntegerAttr):
                names = FLOAT_PREDICATES if isinstance(op, arith.CmpfOp) else INTEGER_PREDICATES
                given.insert(0, names[value.value.data])
            elif name == "fastmath":
                if value != words.usual_flags(op):
                    said.append(("fastmath", str(value).partition("<")[2].rstrip(">")))
            elif not words.is_usual(op):
                raise Diagnostic.at(op, f"is no expression with {name} = {value}")
        type: Attribute = op.results[0].type
        if len(op.operands) == 1 and op.operands[0].type != type:
            said.append(("dtype", type_word(type)))
        return Spelled(op.name, tuple(given), tuple(said), type)
