"""What a program gives that has several parts, by TVM's name: `isinstance(result, tvm.runtime.container.ADT)`."""

from ..dialects.support.algebraic import ADT as ADT
