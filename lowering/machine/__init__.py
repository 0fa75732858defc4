"""LLVM itself: targets, code generation in processes of its own, and the cache of objects."""
