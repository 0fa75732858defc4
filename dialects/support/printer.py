"""xDSL's printer, made to write locations where they can be read."""

from __future__ import annotations

from xdsl.ir import Operation
from xdsl.printer import Printer


class ModulePrinter(Printer):
    """A printer whose text can be parsed with locations too.

    xDSL writes the location of an operation after its type; in a custom form that has more to come, as the regions of
    `scf.while`, it belongs at the end, where it is written as well.
    """

    def print_operation_type(self, op: Operation) -> None:
        if self.print_generic_format or Operation.print is type(op).print:
            super().print_operation_type(op)
        else:
            self.print_function_type(op.operand_types, op.result_types)
