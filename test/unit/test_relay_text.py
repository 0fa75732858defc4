"""Relay's own text: read into modules and expressions, and written."""

from collections.abc import Callable
from typing import cast

import numpy as np
import pytest

import weft
from weft import relay
from weft.dialects.support.diagnostics import Diagnostic

VERSION = '#[version = "0.0.5"]\n'
LIST = "type List[A] { Cons(A, List[A]), Nil, }\n"
X = relay.var("x", shape=(2, 3))

CONSTANT = "relay.Constant"
PLACE = '{"device_type_int": "1", "virtual_device_id": "0", "memory_scope": "0", "target": "4"}'


def nodes(kind: str, attrs: str) -> str:
    """What stands behind a text, of one thing of this kind."""
    listed = f'{{"type_key": "Map", "keys": ["{kind}"], "data": [2]}}, {{"data": [3]}}'
    own = f'{{"type_key": "{kind}", "attrs": {attrs}}}'
    return f'{{"root": 1, "nodes": [{{}}, {listed}, {own}, {{"repr_str": 3}}]}}'


def value_of(text: str, *args: object) -> object:
    run = relay.create_executor(mod=weft.parser.fromtext(VERSION + text)).evaluate()
    return cast("Callable[..., object]", run)(*args)


def test_a_module_of_text_computes_what_it_says() -> None:
    text = """
    def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(4, 3), float32]) -> Tensor[(2, 4), float32] {
      %0 = nn.dense(%x, %w, units=None) /* ty=Tensor[(2, 4), float32] */;  // and /* so on
      let %y = @twice(%0);
      %1 = split(%y, indices_or_sections=2, axis=1);
      %2 = (%1.1, %1.0);
      concatenate(%2, axis=1) - 1f * 0.5f
    }
    def @twice(%a: Tensor[(2, 4), float32]) { %a + %a }
    """
    x, w = np.arange(6, dtype=np.float32).reshape(2, 3), np.ones((4, 3), np.float32)
    w[3] = 2
    y = 2 * x @ w.T
    np.testing.assert_array_equal(value_of(text, x, w), np.concatenate([y[:, 2:], y[:, :2]], 1) - 0.5)


def test_operands_of_text_stand_before_attributes_also_where_python_has_them_behind() -> None:
    text = "def @main(%x: Tensor[(2), float32]) { nn.pad(%x, 7f, pad_width=[[1, 0]]) }"
    np.testing.assert_array_equal(value_of(text, np.zeros(2, np.float32)), [7, 0, 0])


def test_a_pad_value_is_taken_in_the_element_type_of_what_is_padded() -> None:
    inner = "nn.pad(%x, 0, pad_width=[[1, 0]])"
    text = f"def @main(%x: Tensor[(1), float16], %v: int32) {{ nn.pad({inner}, %v, pad_width=[[0, 1]]) }}"
    padded = np.asarray(value_of(text, np.ones(1, np.float16), np.array(3, np.int32)))
    assert padded.dtype == np.float16 and padded.tolist() == [0, 1, 3]
    x = relay.var("x", shape=(2,), dtype="uint8")
    assert str(relay.nn.pad(x, ((1, 1),), relay.const(1.0)).value.type) == "tensor<4xui8>"


def test_branches_matches_and_recursion_of_text_run() -> None:
    text = (
        LIST
        + """
    def @length[A](%xs: List[A]) -> int32 {
      match (%xs) { Cons(_, %rest: List[A]) => { 1 + @length(%rest) }, Nil => 0, }
    }
    def @main(%n: int32) -> int32 {
      let %sum: fn (int32) -> int32 = fn (%k: int32) -> int32 { if (%k == 0) { 0 } else { %k + %sum(%k - 1) } };
      let %cell = ref(%n);
      ref_write(%cell, ref_read(%cell) + 100);
      %sum(%n) + ref_read(%cell) + 1000 * @length(Cons(1f, Cons(2f, Nil)))
    }
    """
    )
    assert value_of(text, np.array(4, np.int32)) == 10 + 104 + 2000


def test_names_are_known_where_relay_has_them() -> None:
    assert value_of("def @main() -> int32 { let %x = 1; ({ let %x = 2; %0 = %x + 4; %0 }) * %0 }") == 36
    with pytest.raises(Diagnostic, match="there is no variable %y here"):
        relay.parse_expr("({ let %y = 1; %y }, %y)")


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("1 + ", 5, "expected an expression"),
        ("add(%x, 1)", 5, "no variable %x"),
        ("nn.dens(1f)", 1, "no operator 'nn.dens'"),
        ("nn.relu(1f, 2f)", 1, "takes 1 operands, and 2 are given"),
        ("add(1f)", 1, "is given 1 operands, and has no 'rhs'"),
        ("nn.softmax(1f, axes=0)", 1, "has no attribute 'axes'"),
        ("65520f16", 1, "beyond what float16 holds"),
        ("32768i16", 1, "does not hold"),
        ("1.5", 1, "is no integer"),
        ("1 /* 2 /* 3 */", 3, "does not end"),
        ("add(meta[relay.Constant][0], 1)", 5, r"meta\[relay.Constant\]\[0\] is not given"),
        ("(1, 2", 6, "expected ','"),
        ("1 $ 2", 3, "begins no word"),
        ("fn (%x: Tensor[(2), float3]) { %x }", 9, "no element type 'float3'"),
        ("let x = 1; x", 5, "expected a variable"),
        ("Cons(1, 2)", 1, "no operator 'Cons'"),
    ],
)
def test_what_a_text_says_wrong_is_refused_at_its_place(text: str, column: int, message: str) -> None:
    with pytest.raises(Diagnostic, match=message) as refused:
        relay.parse_expr(text)
    assert refused.value.place is not None
    assert (refused.value.place.line, refused.value.place.column) == (1, column)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def @main() { 1 }", "version"),
        ('#[version = "0.0.4"] def @main() { 1 }', "0.0.5 is read"),
        (f"{VERSION} def @f() {{ 1 }} def @f() {{ 1 }}", "the function @f is defined before"),
        (f"{VERSION} type A {{ B }} type C {{ B }}", "the constructor 'B' is defined before"),
        (f"{VERSION} {LIST} {LIST}", "the data type 'List' is defined before"),
        (f"{VERSION} def @main() {{ nn.relu(1f, }}", "expected an expression"),
        (f"{VERSION} def @main() {{ 1 }} #[metadata] {{", "no JSON of TVM's nodes"),
        (f"{VERSION} def @main() {{ 1 }} #[metadata] {{}}", "no JSON of TVM's nodes: 'nodes'"),
        (f"{VERSION} def @main() {{ 1 }} #[metadata] [1]", r"\[1\] stands where a dict is to stand"),
        (f'{VERSION} def @main() {{ 1 }} #[metadata] {{"root": 7, "nodes": []}}', "there is no node 7"),
        (f'{VERSION} def @main() {{ 1 }} #[metadata] {{"nodes": [], "b64ndarrays": ["?"]}}', "no base64"),
        (f'{VERSION} def @main() {{ 1 }} #[metadata] {{"nodes": [], "b64ndarrays": ["AAAA"]}}', "are cut off"),
        (VERSION + "def @main() { 1 } #[metadata]" + nodes(CONSTANT, '{"data": "-1"}'), "there is no array -1"),
        (VERSION + "def @main() { 1 } #[metadata]" + nodes("VirtualDevice", PLACE), "3 stands where a str is to stand"),
    ],
)
def test_modules_that_are_none_are_refused(text: str, message: str) -> None:
    with pytest.raises(Diagnostic, match=message):
        relay.parse(text, "net.rly")


@pytest.mark.parametrize(
    "made",
    [
        lambda: relay.nn.conv2d(relay.var("d", shape=(1, 3, 8, 8)), relay.var("w", shape=(4, 3, 3, 3)), padding=(1, 1)),
        lambda: relay.split(X, 3, axis=1)[2] + relay.const(1.5),
        lambda: relay.Tuple([relay.const(True), relay.const(-3, "int64"), relay.const(1e-7), relay.Tuple([])]),
        lambda: relay.If(relay.var("c", shape=(), dtype="bool"), relay.tanh(X), relay.nn.softmax(X, axis=0)),
        lambda: relay.Call(relay.Function([X], relay.clip(X, 0, 6)), [relay.exp(relay.var("y", shape=(2, 3)))]),
        lambda: relay.nn.pad(relay.var("open", shape=(relay.Any(), 2)), ((0, 0), (1, 1)), 3.0),
    ],
)
def test_expressions_are_read_as_they_are_written(made: Callable[[], relay.Expr]) -> None:
    expr = made()
    relay.assert_structural_equal(relay.parse_expr(expr.astext()), expr, map_free_vars=True)


def test_attributes_are_written_where_they_differ_from_their_defaults() -> None:
    pooled = relay.nn.max_pool2d(relay.var("x", shape=(1, 3, 8, 8)), pool_size=(2, 2))
    assert pooled.astext() == (
        VERSION + "free_var %x: Tensor[(1, 3, 8, 8), float32];\nnn.max_pool2d(%x, pool_size=[2, 2])"
    )


def test_devices_and_constants_are_read_from_the_table() -> None:
    table = {"VirtualDevice": [weft.targets.VirtualDevice(weft.cuda(0))], "relay.Constant": [relay.const([1, 2.5])]}
    module = relay.parse(
        VERSION + "def @main(%x {virtual_device=meta[VirtualDevice][0]}: Tensor[(2), float32]) {"
        "  add(on_device(%x, virtual_device=meta[VirtualDevice][0]), meta[relay.Constant][0]) }",
        init_meta_table=table,
    )
    assert "param_virtual_devices = [#relay.virtual_device<cuda" in str(module)
    assert "dense<[1.000000e+00, 2.500000e+00]>" in str(module)


def test_arrays_and_devices_stand_behind_the_text_and_are_read_from_there() -> None:
    a, place = relay.var("a", shape=(3,)), weft.targets.VirtualDevice(weft.cuda(1), "cuda", memory_scope="global")
    first, second = relay.const([1.0, 2, 3]), relay.const(np.array([True, False, True]))
    noted = relay.annotation.on_device(relay.cast(second, "float32"), place)
    main = relay.Function([X], X * noted + relay.const(float("nan")))
    module = relay.IRModule({"first": relay.Function([a], a + first), "main": main})
    text = module.astext()
    assert "add(%a, meta[relay.Constant][0])" in text and "cast(meta[relay.Constant][1]" in text
    relay.assert_structural_equal(relay.parse(text), module)
    hidden = module.astext(show_meta_data=False)
    assert "#[metadata]" not in hidden and text.startswith(hidden[: hidden.index("/*")])
    with pytest.raises(Diagnostic, match=r"meta\[relay.Constant\]\[0\] is not given"):
        relay.parse(hidden)


def test_metadata_of_tvm_is_read() -> None:
    """Of TVM 0.10's `astext`, whose constants have types, spans and devices of their own."""
    array = "P6G0lvBAXt0AAAAAAAAAAAEAAAAAAAAAAQAAAAIgAQACAAAAAAAAAAgAAAAAAAAAAACAPwAAIEA="
    text = f"""{VERSION}
    def @main(%x: Tensor[(2), float32]) {{ add(%x, meta[relay.Constant][0]) }}
    #[metadata]
    {{
      "root": 1,
      "nodes": [
        {{"type_key": ""}},
        {{"type_key": "Map", "keys": ["relay.Constant"], "data": [2]}},
        {{"type_key": "Array", "data": [3]}},
        {{"type_key": "relay.Constant",
          "attrs": {{"_checked_type_": "5", "data": "0", "span": "0", "virtual_device_": "4"}}}},
        {{"type_key": "VirtualDevice", "attrs": {{"device_type_int": "-1", "memory_scope": "6", "target": "0",
                                                "virtual_device_id": "-1"}}}},
        {{"type_key": "relay.TensorType", "attrs": {{"dtype": "float32", "shape": "7", "span": "0"}}}},
        {{"type_key": "runtime.String"}},
        {{"type_key": "Array", "data": [8]}},
        {{"type_key": "IntImm", "attrs": {{"dtype": "int32", "span": "0", "value": "2"}}}}
      ],
      "b64ndarrays": ["{array}"],
      "attrs": {{"tvm_version": "0.10.0"}}
    }}"""
    run = relay.create_executor(mod=relay.parse(text)).evaluate()
    np.testing.assert_array_equal(cast("Callable[..., object]", run)(np.ones(2, np.float32)), [2, 3.5])


def test_places_of_functions_and_attributes_with_quotes_are_read_as_they_are_written() -> None:
    devices = [weft.targets.VirtualDevice(weft.cuda(0)), weft.targets.VirtualDevice(weft.cpu(0))]
    text = (
        "def @main(%x {virtual_device=meta[VirtualDevice][1]}: Tensor[(2), float32], %y: Tensor[(2), float32], "
        r'virtual_device=meta[VirtualDevice][0], Note="a\"\\b") { add(%x, %y) }'
    )
    module = relay.parse(VERSION + text, init_meta_table={"VirtualDevice": devices})
    assert module["main"].attrs["Note"] == 'a"\\b'
    relay.assert_structural_equal(relay.parse(module.astext()), module)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int64", "int8", "uint64", "bool"])
def test_constants_are_read_in_the_type_that_they_are_written_in_to_the_last_bit(dtype: str) -> None:
    if dtype == "bool":
        array = np.array([True, False])
    elif np.dtype(dtype).kind == "f":
        greatest = np.finfo(dtype).max
        array = np.array([greatest, -greatest, 0.1, -0.0, np.inf, -np.inf, np.nan, np.finfo(dtype).tiny], dtype)
    else:
        array = np.array([np.iinfo(dtype).max, np.iinfo(dtype).min], dtype)
    for each in (array, *array):
        made = relay.Function([], relay.const(each, dtype))
        text = made.astext().removeprefix(VERSION).strip()
        read = value_of(text.replace("fn ", "def @main", 1))
        assert np.asarray(read).dtype == dtype and np.asarray(read).tobytes() == np.asarray(each).tobytes()


def test_numbers_of_attributes_are_read_as_they_are_written() -> None:
    text = "def @main(%x: Tensor[(2), float32]) { nn.leaky_relu(clip(%x, a_min=-inff, a_max=1e300f), alpha=0.1f) }"
    written = relay.parse(VERSION + text).astext()
    assert "a_min=-inff, a_max=1e+300f" in written and "alpha=0.1f" in written
    nan = relay.Function([X], relay.nn.leaky_relu(X, float("nan"))).astext()
    assert "alpha=nanf" in nan and "alpha=nanf" in relay.parse(nan.replace("fn ", "def @main")).astext()
    for number, message in (("1e400f", "beyond what float64 holds"), ("1f7", "no element type"), ("1i7", "no element")):
        with pytest.raises(Diagnostic, match=message):
            relay.parse(VERSION + f"def @main(%x: Tensor[(2), float32]) {{ clip(%x, a_min=0, a_max={number}) }}")


def test_fields_of_fields_and_of_what_is_called_are_read() -> None:
    assert value_of("def @f() { (1, (2, 3)) } def @main() -> int32 { @f().1.0 }") == 2


def test_a_module_is_read_beside_another_and_from_the_text_of_mlir() -> None:
    first = relay.parse(VERSION + LIST + "def @f(%x: float32) { %x + 1f }")
    both = relay.parse(VERSION + "def @main() { @f(1f) }", init_module=first)
    assert [each.name_hint for each in both.get_global_vars()] == ["f", "main"]
    assert len(first.functions) == 1
    relay.assert_structural_equal(relay.fromtext(str(both)), both)


def test_modules_are_read_as_they_are_written() -> None:
    module = relay.Prelude().mod
    module["main"] = relay.Function([X], relay.Tuple([X, relay.tanh(X)]), attrs={"Compiler": "dsp", "level": 3})
    module["main"] = module["main"].with_attr("Empty", None)
    text = module.astext()
    assert 'def @main(%x: Tensor[(2, 3), float32], Compiler="dsp", level=3, Empty=None) -> (Tensor[(2, 3)' in text
    relay.assert_structural_equal(relay.parse(text), module)
    relay.assert_structural_equal(relay.parse_expr(module["main"].astext()), module["main"])


def test_a_data_type_needs_no_constructor() -> None:
    module = relay.parse(VERSION + "extern type Storage\ntype Never { }")
    assert set(module.type_definitions) == {"Storage", "Never"}
    relay.assert_structural_equal(relay.fromtext(str(module)), module)
    relay.assert_structural_equal(relay.fromtext(module.astext()), module)
