"""`--verify-roundtrip`: what is printed must be read back as the same module."""

from __future__ import annotations

from functools import partial

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ..dialects.support.diagnostics import Diagnostic, Note, Place
from ..dialects.support.parser import parse_module
from ..transforms.infra.printing import module_text


def check_roundtrip(module: ModuleOp, context: Context) -> None:
    """Print `module` and parse it again: in the custom form, with locations, and in the generic form.

    Raises:
        Diagnostic: the text cannot be parsed, or gives another module; it shows the first line that differs.
    """
    forms = {
        "custom": module_text,
        "located": partial(module_text, debuginfo=True),
        "generic": partial(module_text, generic=True),
    }
    for form, print_form in forms.items():
        text = print_form(module)
        name = f"<{form} form>"
        try:
            again = parse_module(text, context, name)
        except Diagnostic as error:
            error.notes = (*error.notes, Note("this is how the module was printed, and it cannot be parsed again"))
            raise
        second = print_form(again)
        if second != text:
            raise _difference(text, second, name)
        if not module.is_structurally_equivalent(again):
            raise Diagnostic("what is parsed again is another module, though it prints the same", Place(name))


def _difference(first: str, second: str, name: str) -> Diagnostic:
    pairs = zip([*first.split("\n"), ""], [*second.split("\n"), ""], strict=False)
    line, (before, after) = next((n, pair) for n, pair in enumerate(pairs, 1) if pair[0] != pair[1])
    column = next((i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), 0) + 1
    return Diagnostic(
        "the module prints differently after being printed and parsed",
        Place(name, line, column, text=before),
        notes=[Note("after being parsed, this line is", Place(name, line, column, text=after))],
    )
