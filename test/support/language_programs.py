"""Programs that branch, call and recurse, by name, as text."""

LIST = "!relay.adt<@list, [tensor<i32>]>"
PROGRAMS = {
    "loop": """
relay.func private @loop(%i: tensor<i32>, %n: tensor<i32>, %x: tensor<300xf32>) -> tensor<300xf32> {
  %one = relay.constant dense<1> : tensor<i32>
  %c = relay.less %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %r = relay.if %c : (tensor<i1>) -> tensor<300xf32> {
    %j = relay.add %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %f = relay.cast %one {dtype = "float32"} : (tensor<i32>) -> tensor<f32>
    %z = relay.add %x, %f : (tensor<300xf32>, tensor<f32>) -> tensor<300xf32>
    %0 = relay.call @loop(%j, %n, %z) : (tensor<i32>, tensor<i32>, tensor<300xf32>) -> tensor<300xf32>
    relay.yield %0 : tensor<300xf32>
  } else {
    relay.yield %x : tensor<300xf32>
  }
  relay.return %r : tensor<300xf32>
}
relay.func @main(%n: tensor<i32>, %x: tensor<300xf32>) -> tensor<300xf32> {
  %zero = relay.constant dense<0> : tensor<i32>
  %y = relay.call @loop(%zero, %n, %x) : (tensor<i32>, tensor<i32>, tensor<300xf32>) -> tensor<300xf32>
  relay.return %y : tensor<300xf32>
}
""",
    "depth": f"""
relay.adt @list<"T"> {{nil(), cons(!relay.param<"T">, !relay.adt<@list, [!relay.param<"T">]>)}}
relay.func private @down_from(%n: tensor<i32>) -> {LIST} {{
  %zero = relay.constant dense<0> : tensor<i32>
  %one = relay.constant dense<1> : tensor<i32>
  %c = relay.equal %n, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %y = relay.if %c : (tensor<i1>) -> {LIST} {{
    %nil = relay.construct "nil"() : () -> {LIST}
    relay.yield %nil : {LIST}
  }} else {{
    %m = relay.subtract %n, %one : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %t = relay.call @down_from(%m) : (tensor<i32>) -> {LIST}
    %l = relay.construct "cons"(%n, %t) : (tensor<i32>, {LIST}) -> {LIST}
    relay.yield %l : {LIST}
  }}
  relay.return %y : {LIST}
}}
relay.func private @length(%l: {LIST}, %so_far: tensor<i32>) -> tensor<i32> {{
  %one = relay.constant dense<1> : tensor<i32>
  %y = relay.match %l : ({LIST}) -> tensor<i32>
  case cons(%h: tensor<i32>, %t: {LIST}) {{
    %more = relay.add %so_far, %one : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %0 = relay.call @length(%t, %more) : ({LIST}, tensor<i32>) -> tensor<i32>
    relay.yield %0 : tensor<i32>
  }} default {{
    relay.yield %so_far : tensor<i32>
  }}
  relay.return %y : tensor<i32>
}}
relay.func @main(%n: tensor<i32>) -> (tensor<i32>, tensor<i32>) {{
  %zero = relay.constant dense<0> : tensor<i32>
  %l = relay.call @down_from(%n) : (tensor<i32>) -> {LIST}
  %y = relay.call @length(%l, %zero) : ({LIST}, tensor<i32>) -> tensor<i32>
  %z = relay.call @length(%l, %y) : ({LIST}, tensor<i32>) -> tensor<i32>
  relay.return %y, %z : tensor<i32>, tensor<i32>
}}
""",
    "circle": """
relay.func @main(%x: tensor<f32>) -> tensor<f32> {
  %id = relay.fn(%a: tensor<f32>) -> tensor<f32> {
    relay.yield %a : tensor<f32>
  }
  %r = relay.ref_create %id : ((tensor<f32>) -> tensor<f32>) -> !relay.ref<(tensor<f32>) -> tensor<f32>>
  %f = relay.fn(%a: tensor<f32>) -> tensor<f32> {
    %self = relay.ref_read %r : (!relay.ref<(tensor<f32>) -> tensor<f32>>) -> ((tensor<f32>) -> tensor<f32>)
    %g = relay.ref_create %self : ((tensor<f32>) -> tensor<f32>) -> !relay.ref<(tensor<f32>) -> tensor<f32>>
    relay.ref_write %r, %id : !relay.ref<(tensor<f32>) -> tensor<f32>>, (tensor<f32>) -> tensor<f32>
    %0 = relay.apply %self(%a) : (tensor<f32>) -> tensor<f32>
    relay.ref_write %r, %self : !relay.ref<(tensor<f32>) -> tensor<f32>>, (tensor<f32>) -> tensor<f32>
    relay.yield %0 : tensor<f32>
  }
  relay.ref_write %r, %id : !relay.ref<(tensor<f32>) -> tensor<f32>>, (tensor<f32>) -> tensor<f32>
  %y = relay.apply %f(%x) : (tensor<f32>) -> tensor<f32>
  relay.ref_write %r, %f : !relay.ref<(tensor<f32>) -> tensor<f32>>, (tensor<f32>) -> tensor<f32>
  relay.return %y : tensor<f32>
}
""",
    "check": """
relay.func @main(%c: tensor<i1>, %x: tensor<4xf32>, %i: tensor<2xi64>) -> tensor<2xf32> {
  %y = relay.if %c : (tensor<i1>) -> tensor<2xf32> {
    %e = relay.exp %x : tensor<4xf32>
    %0 = relay.take %e, %i {mode = "error"} : (tensor<4xf32>, tensor<2xi64>) -> tensor<2xf32>
    relay.yield %0 : tensor<2xf32>
  } else {
    %1 = relay.take %x, %i {mode = "error"} : (tensor<4xf32>, tensor<2xi64>) -> tensor<2xf32>
    relay.yield %1 : tensor<2xf32>
  }
  relay.return %y : tensor<2xf32>
}
""",
}
