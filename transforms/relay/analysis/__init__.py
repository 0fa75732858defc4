"""What can be told of graphs without changing them; under TVM's names in `weft.relay.analysis`."""
