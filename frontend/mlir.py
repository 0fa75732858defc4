"""Modules as text: `.mlir` files, their weights beside them."""

from __future__ import annotations

import os
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from ..dialects.relay.weights import load_weights
from ..dialects.support.diagnostics import Diagnostic, Place, as_diagnostic
from ..dialects.support.parser import LocatedParser
from ..dialects.support.text import decode
from ..dialects.support.verifier import verify
from ..transforms.infra.registry import new_ir_context


def from_mlir(path: str | os.PathLike[str]) -> ModuleOp:
    """The module in a `.mlir` file, verified, with the data of its resources.

    Raises:
        Diagnostic: the file cannot be read, is no text, cannot be parsed, or does not verify.
    """
    path = Path(path)
    try:
        text = path.read_bytes()
    except (OSError, ValueError) as error:  # a name may have a character that none has
        reason = error.strerror if isinstance(error, OSError) else None
        raise Diagnostic((reason or str(error)).lower(), Place(str(path))) from None
    module = parse_mlir(text, str(path))
    load_weights(module, path)
    return module


def parse_mlir(text: str | bytes, name: str) -> ModuleOp:
    """The module that `text` is, verified; `name` is what messages call it.

    Raises:
        Diagnostic: it is no text, cannot be parsed, or does not verify.
    """
    try:
        decoded = decode(text, name) if isinstance(text, bytes) else text
        module = LocatedParser(new_ir_context(), decoded, name).parse_module()
        verify(module)
    except Exception as error:
        if (diagnostic := as_diagnostic(error)) is None:
            raise
        raise diagnostic from None
    return module
