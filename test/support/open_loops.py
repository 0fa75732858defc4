"""Programs whose loops change how large their data are."""

DOUBLING_LOOP = """
relay.func private @loop(%i: tensor<i64>, %n: tensor<i64>, %x: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %c = relay.less %i, %n : (tensor<i64>, tensor<i64>) -> tensor<i1>
  %one = relay.constant dense<1> : tensor<i64>
  %y = relay.if %c : (tensor<i1>) -> tensor<?x2xf32> {
    %j = relay.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %t = relay.tuple(%x, %x) : (tensor<?x2xf32>, tensor<?x2xf32>) -> tuple<tensor<?x2xf32>, tensor<?x2xf32>>
    %z = relay.concatenate %t {axis = 0 : i64} : (tuple<tensor<?x2xf32>, tensor<?x2xf32>>) -> tensor<?x2xf32>
    %w = relay.negative %z : tensor<?x2xf32>
    %r = relay.call @loop(%j, %n, %w) : (tensor<i64>, tensor<i64>, tensor<?x2xf32>) -> tensor<?x2xf32>
    relay.yield %r : tensor<?x2xf32>
  } else {
    relay.yield %x : tensor<?x2xf32>
  }
  relay.return %y : tensor<?x2xf32>
}
"""
"""`@loop(%i, %n, %x)`: each turn from `%i` to `%n` has twice the rows of the last, negated."""


def falling(columns: int) -> str:
    """A graph of an array `%x` of ten rows and one `%y` of `n`, that gives `10 - n` rows of the first: the memory that
    it works in is largest where `n` is 0."""
    rows = f"tensor<?x{columns}xf32>"
    return f"""
relay.func @rest(%x: tensor<10x{columns}xf32>, %y: tensor<?xf32>) -> {rows} {{
  %shape = relay.shape_of %y {{dtype = "int64"}} : (tensor<?xf32>) -> tensor<1xi64>
  %end = relay.constant dense<10> : tensor<1xi64>
  %step = relay.constant dense<1> : tensor<1xi64>
  %0 = relay.dyn.strided_slice %x, %shape, %end, %step
      : (tensor<10x{columns}xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> {rows}
  %1 = relay.nn.softmax %0 {{axis = 1 : i64}} : {rows}
  %2 = relay.nn.softmax %1 {{axis = 0 : i64}} : {rows}
  %3 = relay.nn.softmax %2 {{axis = 1 : i64}} : {rows}
  relay.return %3 : {rows}
}}
"""
