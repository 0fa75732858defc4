"""The C header of an exported graph."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...dialects.support.diagnostics import UsageError
from ...lowering.abi import ALIGNMENT, CompiledGraph, TensorSpec

C_KEYWORDS = frozenset(
    """
    auto break case char const continue default do double else enum extern float for goto if inline int long register
    restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
    """.split()
)

MODEL = """
#ifndef WEFT_MODEL_1
#define WEFT_MODEL_1

#include <stddef.h>
#include <stdint.h>

/* A tensor that a model takes or gives: its elements one after the other, the last axis fastest. */
typedef struct weft_tensor {
  const char *name;
  const char *dtype; /* as NumPy calls it: "float32", "int64", "bool" */
  size_t rank;
  const int64_t *shape;
  size_t bytes;
} weft_tensor;

typedef struct weft_model {
  const char *name;
  const char *machine; /* the processor and the system that the code is for */
  size_t num_inputs;
  const weft_tensor *inputs;
  size_t num_outputs;
  const weft_tensor *outputs;
  size_t workspace_bytes; /* what a call needs for itself */

  /* A workspace, for free() to release; NULL where there is no memory. */
  void *(*allocate)(void);

  /* Compute the outputs on so many threads; 0 where all went well. Calls may run at once, each on a workspace of its
     own, which may be used again afterwards. */
  int64_t (*run)(const void *const *inputs, void *const *outputs, void *workspace, int64_t threads);

  /* Write to `text` what a call that gave `status` has to say, at most `size` bytes with a 0 at the end; gives the
     length of the whole message. The workspace is that of the call. */
  size_t (*message)(int64_t status, const void *workspace, char *text, size_t size);
} weft_model;

#endif
"""
"""What all headers say alike. The number is raised whenever it changes."""


def identifier(name: str) -> str:
    """`name`, which begins the names of what a library defines.

    Raises:
        UsageError: C has no such identifier.
    """
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) or name in C_KEYWORDS:
        raise UsageError(
            f"'{name}' is no name in C",
            hint='letters, digits and underscores: export_library("m.so", name="my_model")',
        )
    return name


def header(graph: CompiledGraph, name: str) -> str:
    """The header of a graph that is exported as `name`."""
    guard = f"WEFT_{name.upper()}_H"
    return f"""/* {name}: a model that was compiled by Weft for {comment(str(graph.platform))}.

   inputs:
{_listed(graph.inputs)}
   outputs:
{_listed(graph.outputs)}

     const weft_model *model = {name}_model();
     void *workspace = model->allocate();
     int64_t status = model->run(inputs, outputs, workspace, threads);

   Workspaces begin at a multiple of {ALIGNMENT} bytes. */

#ifndef {guard}
#define {guard}
{MODEL}
#ifdef __cplusplus
extern "C" {{
#endif

const weft_model *{name}_model(void);

#ifdef __cplusplus
}}
#endif

#endif
"""


def _listed(specs: Sequence[TensorSpec]) -> str:
    return "\n".join(f"     {number}: {comment(str(spec))}, {spec.bytes} bytes" for number, spec in enumerate(specs))


def comment(text: str) -> str:
    """Text that can stand in a comment of C."""
    printable = "".join(character if character.isprintable() else " " for character in text)
    return printable.replace("*/", "* /").replace("/*", "/ *").replace("??/", "?? /")
