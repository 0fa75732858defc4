"""Schedule primitives: transformations of loop nests over blocks, each legal where it says so."""
