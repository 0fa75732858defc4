"""The backend `c_source`: regions of elementwise operators, each a loop in C that the system's compiler compiles."""

from __future__ import annotations

from xdsl.dialects.builtin import DYNAMIC_INDEX, Float32Type
from xdsl.ir import Operation, SSAValue

from weft import Backend, ExternalKernel
from weft.dialects.relay.base import is_static, shape_of, tensor
from weft.dialects.relay.core import ConstantOp, FuncOp

FORMULAS = {
    "relay.add": "{} + {}",
    "relay.subtract": "{} - {}",
    "relay.multiply": "{} * {}",
    "relay.negative": "-{}",
    "relay.abs": "fabsf({})",
    "relay.sqrt": "sqrtf({})",
    "relay.nn.relu": "({0} > 0.0f ? {0} : 0.0f)",
}
"""What an operator is in C, on one element of each operand."""


class CSource(Backend):
    """Takes elementwise operators on f32, where no operand is broadcast: of open extents, those of one operand."""

    name = "c_source"

    def supports(self, op: Operation) -> bool:
        types = [tensor(value) for value in (*op.operands, *op.results)] if op.name in FORMULAS else []
        same = all(type == types[0] for type in types)
        known = bool(types) and (is_static(types[0]) or len(op.operands) == 1)
        return known and same and isinstance(types[0].element_type, Float32Type)

    def lower(self, function: FuncOp) -> ExternalKernel:
        """One loop over the elements, which all tensors of a region have as many of. Open extents stand behind the
        addresses."""
        block, results = function.body.block, function.return_op.arguments
        constants = [op for op in block.ops if isinstance(op, ConstantOp)]
        names: dict[SSAValue, str] = {value: f"p{n}" for n, value in enumerate(block.args)}
        names |= {op.result: f"c{n}" for n, op in enumerate(constants)}
        parameters: list[str] = []
        for value, name in [*names.items(), *((value, f"out{n}") for n, value in enumerate(results))]:
            parameters.append(f"{'' if name.startswith('out') else 'const '}float *restrict {name}")
            parameters += [f"int64_t {each}" for each in _extents(value, name) if not each.isdigit()]
        elements = {value: f"{name}[i]" for value, name in names.items()}
        lines: list[str] = []
        for op in block.ops:
            if op.name in FORMULAS:
                formula = FORMULAS[op.name].format(*(elements[value] for value in op.operands))
                lines.append(f"const float v{len(lines)} = {formula};")
                elements[op.results[0]] = f"v{len(lines) - 1}"
        lines += [f"out{n}[i] = {elements[value]};" for n, value in enumerate(results)]
        name, count = f"{function.sym_name.data}_loop", " * ".join(_extents(results[0], "out0")) or "1"
        loop = "\n".join(f"    {line}" for line in lines)
        source = f"""#include <math.h>
#include <stdint.h>

void {name}({", ".join(parameters)}) {{
  for (int64_t i = 0; i < {count}; ++i) {{
{loop}
  }}
}}
"""
        arrays = [array for op in constants if (array := op.numpy()) is not None]
        return ExternalKernel("c", name, arrays, source=source)


def _extents(value: SSAValue, name: str) -> list[str]:
    """The extents of a tensor in C, where those that are open are parameters called by its name."""
    return [f"{name}_{n}" if each == DYNAMIC_INDEX else str(each) for n, each in enumerate(shape_of(value))]
