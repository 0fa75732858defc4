"""Functions put together in Python: TVM's classes of nodes, and its imperative builder. What is made becomes TVMScript
(`script`), and that a `tir.prim_func`: there is one way from statements to operations."""
