"""Names that nothing else has."""

from weft.dialects.support.unique_names import UniqueNames, free_name


def test_a_name_that_is_taken_gets_the_first_number_that_is_free() -> None:
    assert free_name("x", {"y"}) == "x"
    assert free_name("x", {"x", "x_1", "x_3"}) == "x_2"
    assert free_name("f", {"f"}, separator=".") == "f.1"


def test_each_name_is_given_once() -> None:
    names = UniqueNames(["x_1"])
    assert [names.new(name) for name in ("x", "x", "x_2", "x", "x_1")] == ["x", "x_2", "x_2_1", "x_3", "x_1_1"]
