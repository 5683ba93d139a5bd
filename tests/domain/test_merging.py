from hypothesis import given
from hypothesis import strategies as st

from domain.merging import merged

BASE = [b"line %d\n" % n for n in range(30)]


def text(**changed: bytes) -> bytes:
    """The base with some lines replaced: `n5=b"x"` for the fifth."""
    return b"".join(changed.get(f"n{n}", line) for n, line in enumerate(BASE))


def test_their_change_above_all_of_ours_is_put_in():
    ours, theirs = text(n20=b"ours\n"), text(n5=b"theirs\nand more\n")

    assert merged(ours, text(), theirs) == text(n20=b"ours\n", n5=b"theirs\nand more\n")


def test_their_change_below_all_of_ours_is_put_in_where_it_belongs_now():
    ours, theirs = text(n5=b"", n6=b"a\nb\nc\n"), text(n20=b"theirs\n")

    assert merged(ours, text(), theirs) == text(n5=b"", n6=b"a\nb\nc\n", n20=b"theirs\n")


def test_a_change_between_two_of_ours_is_left_to_git():
    assert merged(text(n2=b"x\n", n28=b"y\n"), text(), text(n15=b"z\n")) is None


def test_changes_that_are_close_to_each_other_are_left_to_git():
    for apart in range(4):
        assert merged(text(n10=b"x\n"), text(), text(**{f"n{10 + apart}": b"y\n"})) is None
    assert merged(text(n10=b"x\n"), text(), text(n14=b"y\n")) is not None


def test_what_git_splits_otherwise_is_left_to_git():
    lone = text(n1=b"a\rb\n")

    assert merged(lone.replace(b"line 20", b"x"), lone, lone.replace(b"line 28", b"y")) is None


def test_windows_line_ends_and_a_missing_last_one_stay():
    base = b"\r\n".join(b"line %d" % n for n in range(30))

    assert merged(
        base.replace(b"line 3\r", b"x\r"), base, base.replace(b"line 29", b"y")
    ) == base.replace(b"line 3\r", b"x\r").replace(b"line 29", b"y")


CHANGE = st.tuples(
    st.integers(0, 29),
    st.integers(0, 3),
    st.lists(st.sampled_from([b"x\n", b"\n", b"line 3\n"]), max_size=3),
)


def changed(at: int, count: int, new: list[bytes]) -> list[bytes]:
    return [*BASE[:at], *new, *BASE[at + count :]]


@given(CHANGE, CHANGE)
def test_a_merge_is_the_same_from_both_sides(one, other):
    """Law: whoever is `ours`, the text is the same, where both can tell."""
    base = b"".join(BASE)
    ours, theirs = b"".join(changed(*one)), b"".join(changed(*other))

    found = merged(ours, base, theirs), merged(theirs, base, ours)

    assert None in found or found[0] == found[1]


@given(CHANGE)
def test_nothing_of_theirs_leaves_ours_and_nothing_of_ours_takes_theirs(change):
    base, one = b"".join(BASE), b"".join(changed(*change))

    assert merged(one, base, base) in (one, None)
    assert merged(base, base, one) in (one, None)


@given(st.binary(max_size=60), st.binary(max_size=60), st.binary(max_size=60))
def test_any_three_contents_give_an_answer_or_none(ours, base, theirs):
    assert merged(ours, base, theirs) is None or isinstance(merged(ours, base, theirs), bytes)
