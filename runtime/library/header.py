"""The C header of an exported graph."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...dialects.support.diagnostics import UsageError
from ...lowering.abi import ALIGNMENT, DYNAMIC, CompiledGraph, TensorSpec
from ...lowering.sizes import read_extents
from .hosted import runs_in_c
from .registry import DECLARED

C_KEYWORDS = frozenset(
    """
    auto break case char const continue default do double else enum extern float for goto if inline int long register
    restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
    """.split()
)

MODEL = f"""
#ifndef WEFT_MODEL_3
#define WEFT_MODEL_3

#include <stddef.h>
#include <stdint.h>

/* A tensor that a model takes or gives: its elements one after the other, the last axis fastest. */
typedef struct weft_tensor {{
  const char *name;
  const char *dtype; /* as NumPy calls it: "float32", "int64", "bool" */
  size_t rank;
  const int64_t *shape; /* -1 for an extent that each call may have another value of */
  size_t bytes;         /* 0 where there is such an extent */
}} weft_tensor;

typedef struct weft_model {{
  const char *name;
  const char *machine; /* the processor and the system that the code is for */
  size_t num_inputs;
  const weft_tensor *inputs;
  size_t num_outputs;
  const weft_tensor *outputs;
  size_t workspace_bytes; /* what a call needs for itself; 0 where shapes say that */

  /* A workspace, for free() to release; NULL where there is no memory, or shapes say how large it has to be. */
  void *(*allocate)(void);

  /* Compute the outputs on so many threads; 0 where all went well. Calls may run at once, each on a workspace of its
     own, which may be used again afterwards. */
  int64_t (*run)(const void *const *inputs, void *const *outputs, void *workspace, int64_t threads);

  /* Write to `text` what a call that gave `status` has to say, at most `size` bytes with a 0 at the end; gives the
     length of the whole message. The workspace is that of the call. */
  size_t (*message)(int64_t status, const void *workspace, char *text, size_t size);

  /* What follows from the shapes of the inputs: the shapes of the outputs, and how large a workspace is, which begins
     at a multiple of 64 bytes, as aligned_alloc(64, bytes) gives one. Where data decides an extent, it is what that is
     at most, and -1 where nothing bounds it. The inputs are read where their elements say sizes, and may be NULL where
     none do. 0 where all went well. */
  int64_t (*measure)(const int64_t *const *input_shapes, const void *const *inputs, int64_t *const *output_shapes,
                     size_t *workspace_bytes);

  /* `run` on inputs of these shapes. Afterwards `output_shapes` are those of the outputs. An output of which `measure`
     does not know an extent has memory of its own, which is put into `outputs`, for free() to release. */
  int64_t (*run_at)(const int64_t *const *input_shapes, const void *const *inputs, int64_t *const *output_shapes,
                    void **outputs, void *workspace, int64_t threads);
}} weft_model;

#ifdef __cplusplus
extern "C" {{
#endif
{DECLARED}
#ifdef __cplusplus
}}
#endif

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
    """The header of a graph that is exported as `name`. It declares nothing of one that no function of C runs."""
    devices = ", ".join(graph.device_names)
    if not runs_in_c(graph):
        return f"""/* {name}: a model that was compiled by Weft for {comment(str(graph.platform))}
   on several devices ({comment(devices)}), which Python runs: weft.runtime.load_module.
   No function of C does. */
"""
    guard = f"WEFT_{name.upper()}_H"
    decided = len(read_extents(graph.extents, len(graph.symbols)).read)
    outputs = graph.outputs[: len(graph.outputs) - decided]
    is_open = bool(graph.symbols) or any(spec.is_found for spec in outputs)
    return f"""/* {name}: a model that was compiled by Weft for {comment(str(graph.platform))}.

   inputs:
{_listed(graph.inputs)}
   outputs:
{_listed(outputs)}

     const weft_model *model = {name}_model();
{_OPEN_CALL if is_open else _CALL}

   Workspaces begin at a multiple of {ALIGNMENT} bytes.{_ON_DEVICES.format(comment(devices)) if devices else ""} */

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


_CALL = """\
     void *workspace = model->allocate();
     int64_t status = model->run(inputs, outputs, workspace, threads);"""

_OPEN_CALL = """\
     int64_t status = model->measure(input_shapes, inputs, output_shapes, &bytes);
     void *workspace = aligned_alloc(64, bytes);
     status = model->run_at(input_shapes, inputs, output_shapes, outputs, workspace, threads);"""


_ON_DEVICES = """

   It is on several devices ({}), which are this processor here: a workspace has a part for each, in which
   is what is copied to it. Inputs and outputs are the caller's, on the first; a call copies what is elsewhere."""


def _listed(specs: Sequence[TensorSpec]) -> str:
    sizes = ["" if DYNAMIC in spec.shape else f", {spec.bytes} bytes" for spec in specs]
    return "\n".join(
        f"     {number}: {comment(str(spec))}{size}"
        for number, (spec, size) in enumerate(zip(specs, sizes, strict=True))
    )


def comment(text: str) -> str:
    """Text that can stand in a comment of C."""
    printable = "".join(character if character.isprintable() else " " for character in text)
    return printable.replace("*/", "* /").replace("/*", "/ *").replace("??/", "?? /")
