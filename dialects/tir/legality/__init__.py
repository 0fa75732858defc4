"""What may stand in a `tir` function: iterators within their domains, accesses within their buffers, loops that may run
as they say, buffers that reach their uses."""
