"""What is found out once while nothing changes."""

from concurrent.futures import ThreadPoolExecutor

from weft.dialects.support.facts import remembered, unchanged, while_changing, while_unchanged


class Thing:
    """Something to ask about."""

    def __init__(self) -> None:
        self.asked = 0

    @remembered
    def fact(self) -> list[int]:
        self.asked += 1
        return [self.asked]


def test_a_fact_is_found_once_for_each_object_while_nothing_changes() -> None:
    one, other = Thing(), Thing()
    with unchanged():
        assert one.fact() is one.fact()
        assert other.fact() == [1]
    assert one.asked == other.asked == 1


def test_outside_nothing_is_remembered_and_nothing_stays_behind() -> None:
    thing = Thing()
    with unchanged():
        thing.fact()
    assert thing.fact() == [2] and thing.fact() == [3]
    with unchanged():
        assert thing.fact() == [4]


def test_what_is_inside_shares_the_facts_and_does_not_end_them() -> None:
    thing = Thing()

    @while_unchanged
    def ask(times: int) -> None:
        for _ in range(times):
            thing.fact()

    with unchanged():
        ask(2)
        ask(3)
        assert thing.fact() == [1]
    ask(2)
    assert thing.asked == 2


def test_an_error_ends_it() -> None:
    thing = Thing()
    try:
        with unchanged():
            thing.fact()
            raise KeyError
    except KeyError:
        pass
    assert thing.fact() == [2]


def test_objects_that_are_gone_are_not_taken_for_others() -> None:
    with unchanged():
        assert all(Thing().fact() == [1] for _ in range(100))


def test_threads_do_not_see_each_others_facts() -> None:
    thing = Thing()
    with unchanged(), ThreadPoolExecutor(1) as pool:
        thing.fact()
        assert pool.submit(thing.fact).result() == [2]


def test_what_changes_its_own_meanwhile_remembers_nothing() -> None:
    thing, made = Thing(), Thing()

    @while_changing
    def change() -> list[list[int]]:
        return [made.fact(), made.fact()]

    with unchanged():
        thing.fact()
        assert change() == [[1], [2]]
        assert thing.fact() == [1]
        assert made.fact() == [3] and made.fact() == [3]
