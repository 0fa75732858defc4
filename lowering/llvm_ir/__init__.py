"""The `llvm` dialect as the text of LLVM IR."""
