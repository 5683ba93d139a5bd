import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.commit import Change, Commit
from domain.gate import Failure
from domain.suspects import imported_paths, point_out


def commit(sha, *paths, removed=()):
    changes = tuple(
        Change(path=path, old_mode="100644", new_mode="100644", old_blob="1", new_blob="2")
        for path in paths
    )
    return Commit(sha=sha, tree="", parents=("p",), subject=sha, changes=changes, removed=removed)


def failure(test="tests/test_x.py::test_x", message=""):
    return Failure(test=test, message=message)


def named(failures, commits, imports=None):
    return set(point_out(failures, commits, imports or {}).named)


CHAIN = (
    commit("a", "src/a.py"),
    commit("b", "src/b.py"),
    commit("c", "src/c.py"),
    commit("d", "pkg/deep/d.py"),
)


@pytest.mark.parametrize(
    "message",
    [
        "src/a.py:3: NameError",
        'File "/srv/gate/src/a.py", line 3',
        "E   in src/a.py",
        "ImportError: cannot import name 'x' from 'src.a'",
        "module a.py broke: /x/src/a.py",
    ],
)
def test_a_failure_that_names_a_file_points_at_its_commit(message):
    assert named([failure(message=message)], CHAIN) == {"a"}


@pytest.mark.parametrize(
    "message", ["xsrc/a.py", "src/a.pyc", "src/aa.py", "", "nothing here", "a.py"]
)
def test_a_failure_that_names_no_file_of_theirs_points_at_nobody(message):
    assert named([failure(message=message)], CHAIN) == set()


def test_a_module_is_known_by_its_dotted_name():
    assert named([failure(message="in pkg.deep.d line 3")], CHAIN) == {"d"}
    assert named([failure(message="deep.d raised")], CHAIN) == {"d"}


def test_the_test_itself_may_be_the_file():
    assert named(
        [failure(test="tests/test_t.py::test_x")], (commit("t", "tests/test_t.py"), *CHAIN)
    ) == {"t"}


def test_among_commits_to_one_file_the_one_that_removed_the_missing_name_is_meant():
    chain = (
        commit("a", "m.py", removed=("helper",)),
        commit("b", "m.py", removed=("other",)),
        commit("c", "m.py"),
    )

    assert named([failure(message="m.py:1: NameError: name 'helper'")], chain) == {"a"}
    assert named([failure(message="m.py:1: boom")], chain) == {"a", "b", "c"}


def test_of_removed_names_the_rarest_tells_most():
    chain = (
        commit("a", "m.py", removed=("import", "helper")),
        commit("b", "m.py", removed=("import",)),
    )

    assert named([failure(message="m.py: import helper")], chain) == {"a"}


def test_a_removed_name_points_without_a_file_when_few_removed_it():
    many = tuple(commit(str(n), f"m{n}.py", removed=("common",)) for n in range(8))
    chain = (commit("a", "x.py", removed=("only_here",)), *many)

    assert named([failure(message="name 'only_here' is not defined")], chain) == {"a"}
    assert named([failure(message="name 'common' is not defined")], chain) == set()


def test_what_the_failing_test_imports_is_the_last_pointer():
    imports = {"tests/test_x.py::test_x": frozenset({"src/b.py", "src/c.py"})}

    assert named([failure()], CHAIN, imports) == {"b", "c"}
    assert named([failure(message="src/a.py broke")], CHAIN, imports) == {"a"}


def test_a_commit_is_sure_when_a_failure_names_its_file_and_nobody_else():
    found = point_out(
        [failure("t::1", "src/a.py"), failure("t::2", "src/b.py and src/c.py")], CHAIN, {}
    )

    assert found.sure == ("a",)
    assert set(found.named) == {"a", "b", "c"}


def test_imports_alone_make_nobody_sure():
    found = point_out([failure()], CHAIN, {"tests/test_x.py::test_x": frozenset({"src/a.py"})})

    assert (set(found.named), found.sure) == ({"a"}, ())


def test_each_commit_gets_the_failures_that_point_at_it():
    one, two = failure("t::1", "src/a.py"), failure("t::2", "src/b.py")

    assert point_out([one, two], CHAIN, {}).named == {"a": (one,), "b": (two,)}


def test_names_that_are_not_utf_8_are_no_trouble():
    assert named([failure(message="caf\udcff.py broke")], (commit("a", "caf\udcff.py"),)) in (
        {"a"},
        set(),
    )


MODULES = {"a": "a.py", "pkg": "pkg/__init__.py", "pkg.b": "pkg/b.py", "pkg.c": "pkg/c.py"}


@pytest.mark.parametrize(
    ("source", "paths"),
    [
        ("import a", {"a.py"}),
        ("import pkg.b, a", {"pkg/b.py", "a.py"}),
        ("import pkg.b as x", {"pkg/b.py"}),
        ("from pkg import b, c", {"pkg/__init__.py", "pkg/b.py", "pkg/c.py"}),
        ("from pkg import (\n    b,\n    c,\n)", {"pkg/__init__.py", "pkg/b.py", "pkg/c.py"}),
        ("    from pkg.b import x", {"pkg/b.py"}),
        ("def f(:\n    import a", {"a.py"}),
        ("# import a\nimportant = a", set()),
        ("import os", set()),
        ("", set()),
    ],
)
def test_imports_are_read_from_lines_also_of_a_broken_source(source, paths):
    assert imported_paths(source, MODULES) == paths


def test_relative_imports_start_at_the_package():
    assert imported_paths("from . import b", MODULES, "pkg") == {"pkg/__init__.py", "pkg/b.py"}
    assert imported_paths("from .c import x", MODULES, "pkg") == {"pkg/c.py"}


@given(
    st.lists(
        st.builds(
            failure,
            st.text(max_size=8),
            st.sampled_from(["src/a.py", "src/b.py x", "helper", "", "\udcff"]),
        ),
        max_size=4,
    ),
    st.permutations(CHAIN),
)
def test_who_is_pointed_at_is_one_of_the_commits_and_the_sure_are_among_them(failures, chain):
    """Law: whatever the order of the commits."""
    found = point_out(failures, chain, {})

    assert set(found.sure) <= set(found.named) <= {one.sha for one in chain}
    assert all(pointing and set(pointing) <= set(failures) for pointing in found.named.values())
    assert set(found.named) == set(point_out(failures, CHAIN, {}).named)


def test_a_traceback_that_only_passes_through_a_file_is_not_sure_of_its_commit():
    """Seen on Pygments: an innocent commit was parked for it."""
    commits = (commit("innocent", "src/way.py"), commit("other", "src/far.py"))
    pointers = point_out(
        [failure(message="src/way.py:10: in call\ntests/test_a.py:3: Error")], commits, {}
    )

    assert set(pointers.named) == {"innocent"}
    assert pointers.sure == ()


def test_a_traceback_that_ends_in_a_file_is_sure_of_its_commit():
    commits = (commit("guilty", "src/way.py"), commit("other", "src/far.py"))
    pointers = point_out(
        [failure(message="tests/test_a.py:3: in call\nsrc/way.py:10: Error")], commits, {}
    )

    assert pointers.sure == ("guilty",)
