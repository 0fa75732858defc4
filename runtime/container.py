"""What a program gives that has several results, by TVM's name: `isinstance(result, tvm.runtime.container.ADT)`."""

ADT = tuple
