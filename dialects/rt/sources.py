"""Sources of functions that are compiled by another compiler and linked to what is made of the module."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr
from xdsl.irdl import IRDLOperation, irdl_op_definition, prop_def
from xdsl.utils.exceptions import VerifyException

LANGUAGES = ("c",)


@irdl_op_definition
class SourceOp(IRDLOperation):
    """A file of source that defines functions which kernels call. `c` is C11, for the C compiler of the system.

    ```mlir
    rt.source "c" "#include <math.h>\\nvoid half(const float *x, float *y) { *y = *x / 2; }\\n"
    ```
    """

    name = "rt.source"
    language = prop_def(StringAttr)
    text = prop_def(StringAttr)
    assembly_format = "$language $text attr-dict"

    def __init__(self, text: str, language: str = "c"):
        super().__init__(properties={"language": StringAttr(language), "text": StringAttr(text)})

    def verify_(self, verify_nested_ops: bool = True) -> None:
        if self.language.data not in LANGUAGES:
            raise VerifyException(f'sources are of the languages {", ".join(LANGUAGES)}, not "{self.language.data}"')
        if not self.text.data.strip():
            raise VerifyException("the source is empty")
