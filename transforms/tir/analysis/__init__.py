"""What schedules and lowering ask of a `tir` function: who writes a buffer, what region is read, how accesses move."""
