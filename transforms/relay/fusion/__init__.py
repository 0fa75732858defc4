"""What FuseOps decides, apart from any IR: a graph of patterns, its post-dominators, its partition into groups."""
