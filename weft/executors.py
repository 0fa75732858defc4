"""What a model can be run by, and the level it is compiled at: known before anything of the compiler is imported."""

COMPILED = ("aot", "graph")
"""What runs a compiled graph."""

EXECUTORS = (*COMPILED, "interpreter")
"""What runs a model."""

DEFAULT_OPT_LEVEL = 3
"""Of a compilation, where neither the call nor a `PassContext` around it says anything else."""
