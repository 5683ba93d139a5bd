import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.scope import select, within


@pytest.mark.parametrize(
    ("globs", "inside", "outside"),
    [
        (("src/",), "src/a/b.py", "lib/src.py"),
        (("*.py",), "a/b/c.py", "a/b/c.pyi"),
        (("/*.py",), "a.py", "a/b.py"),
        (("docs/**",), "docs/a/b", "doc/a"),
        (("src/", "!src/vendor/"), "src/a.py", "src/vendor/a.py"),
        (("a b.py",), "a b.py", "a.py"),
        (("caf\udcff.py",), "caf\udcff.py", "caf.py"),
    ],
)
def test_globs_work_as_in_gitignore(globs, inside, outside):
    assert within(inside, globs)
    assert not within(outside, globs)


def test_without_globs_everything_is_inside():
    assert within("any/thing\n\udcff", ())


def test_what_a_branch_did_not_touch_is_outside_whatever_the_globs_say():
    assert within("a.py", ("*.py",), frozenset({"a.py"}))
    assert not within("b.py", ("*.py",), frozenset({"a.py"}))
    assert not within("a.txt", ("*.py",), frozenset({"a.txt"}))
    assert not within("a.py", (), frozenset())


@given(st.lists(st.text(min_size=1)), st.sets(st.text(min_size=1)))
def test_selecting_is_asking_for_each(paths, touched):
    chosen = select(paths, (), frozenset(touched))

    assert chosen == {path for path in paths if within(path, (), frozenset(touched))}
    assert chosen == set(paths) & touched
