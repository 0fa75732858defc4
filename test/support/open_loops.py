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
