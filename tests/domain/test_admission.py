import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.admission import MAX_BLOB, Rules, admit, protected, refusal
from domain.commit import ABSENT, Change, Commit
from domain.secret import Leak

OPEN = Rules()
ALL = Rules(opened=frozenset({"tests", "ci", "deps", "config"}))


def edit(path="a.py", **more):
    facts = {
        "old_mode": "100644",
        "new_mode": "100644",
        "old_blob": "1",
        "new_blob": "2",
        "added": 1,
        "deleted": 1,
        "size": 10,
    }
    return Change.model_validate({"path": path, **facts, **more})


def new(path="a.py", **more):
    return edit(path, **{"old_mode": ABSENT, "deleted": 0, **more})


def gone(path="a.py", **more):
    return edit(path, **{"new_mode": ABSENT, "added": 0, "size": 0, **more})


def link(target, path="a.py", **more):
    return new(path, new_mode="120000", link=target, **more)


def commit(*changes, sha="c", parents=("p",)):
    return Commit(sha=sha, tree="", parents=parents, subject="x", changes=changes)


def reason(*changes, rules=OPEN):
    return refusal(commit(*changes), rules)


@pytest.mark.parametrize("change", [edit(), new(), gone()], ids=["edited", "added", "removed"])
def test_a_plain_change_is_admitted(change):
    """F13."""
    assert reason(change) is None


def test_a_commit_without_a_change_is_empty():
    """V3."""
    assert reason() == "empty"


def test_a_merge_is_refused_and_a_root_is_not():
    assert refusal(commit(edit(), parents=("p", "q")), OPEN) == "merge commit"
    assert refusal(commit(edit(), parents=()), OPEN) is None


def test_a_path_outside_the_scope_is_refused_by_its_name():
    """V5."""
    rules = Rules(globs=("src/",))

    assert reason(edit("src/a.py"), edit("lib/b.py"), rules=rules) == "scope: lib/b.py"
    assert reason(edit("src/a.py"), rules=rules) is None


def test_a_file_the_branch_did_not_touch_is_refused_and_a_new_one_is_not():
    rules = Rules(touched=frozenset({"a.py"}))

    assert reason(edit("b.py"), rules=rules) == "scope: b.py"
    assert reason(edit("a.py"), new("b.py"), rules=rules) is None


PROTECTED = {
    "ci": [".github/workflows/x.yml", ".gitlab-ci.yml", "Jenkinsfile", ".circleci/config.yml", ".ci/run"],
    "config": ["conftest.py", "tests/conftest.py", "pytest.ini", "setup.cfg", "tox.ini", "Makefile", ".gitattributes",
               ".gitmodules", "sub/.gitattributes", ".coveragerc", "sitecustomize.py", "x.pth", "pytest.py", "noxfile.py",
               ".pre-commit-config.yaml"],
    "deps": ["pyproject.toml", "requirements.txt", "requirements-dev.txt", "poetry.lock", "package.json", "go.mod"],
    "tests": ["tests/test_a.py", "test_a.py", "a_test.py", "pkg/tests/data.txt", "spec/a.rb", "a.test.ts"],
}  # fmt: skip
CASES = [(kind, path) for kind, paths in PROTECTED.items() for path in paths]


@pytest.mark.parametrize(("kind", "path"), CASES)
def test_a_protected_path_is_refused_unless_its_class_is_open(kind, path):
    """V4, V5."""
    assert protected(path) == kind
    assert reason(edit(path)) == f"protected {kind}: {path}"
    assert reason(edit(path), rules=Rules(opened=frozenset({kind}))) is None


@pytest.mark.parametrize(
    "path", ["src/main.py", "contest.py", "latest.py", "attest/a.py", "my.github/x", "makefile.py"]
)
def test_other_paths_are_not_protected(path):
    assert protected(path) is None


@pytest.mark.parametrize(
    "path",
    [
        ".git/config",
        "a/.git/hooks/x",
        ".GIT/config",
        "git~1/config",
        ".git /x",
        ".git./x",
        ".g\u200cit/config",
        ".git::$INDEX_ALLOCATION/x",
    ],
)
def test_a_git_directory_in_any_spelling_is_refused(path):
    """G24."""
    assert reason(new(path), rules=ALL) == f"git directory: {path}"


@pytest.mark.parametrize("path", [".gitignore", "a.git/x", "git/x", ".github/x", "x~1"])
def test_a_name_like_a_git_directorys_is_admitted(path):
    assert reason(new(path), rules=ALL) is None


def test_a_submodule_is_refused_coming_and_going():
    """G25."""
    assert reason(new(new_mode="160000")) == "gitlink: a.py"
    assert reason(gone(old_mode="160000")) == "gitlink: a.py"


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("l", "a.py"),
        ("d/l", "../a.py"),
        ("d/e/l", "../../x/y"),
        ("d/l", "./x//y"),
        ("l", "..a"),
        ("d/l", "../.github/x"),
    ],
)
def test_a_link_that_stays_inside_is_admitted(path, target):
    """G25."""
    assert reason(link(target, path), rules=ALL) is None


@pytest.mark.parametrize(
    ("path", "target"),
    [("l", "/etc/passwd"), ("l", "../x"), ("d/l", "../../x"), ("l", "a/../../x"), ("l", ""), ("l", "x\0y"), ("l", ".git/config"),
     ("d/l", "../.GIT"), ("l", "d/e/deep/../x")],
)  # fmt: skip
def test_a_link_that_may_lead_out_is_refused(path, target):
    """G25, S4: `..` after a name goes up from wherever a link of that name leads."""
    assert reason(link(target, path), rules=ALL) == f"symlink out of the tree: {path}"


def test_a_changed_mode_is_refused():
    """F3."""
    assert reason(edit(new_mode="100755")) == "mode change: a.py"
    assert reason(edit(old_mode="100755", new_mode="100755")) is None
    assert reason(new(new_mode="100755")) is None


def test_binary_content_is_refused_and_its_removal_is_not():
    """T48."""
    assert reason(new(binary=True)) == "binary: a.py"
    assert reason(gone(binary=True)) is None


def test_a_new_file_that_is_too_large_is_refused_and_an_old_one_may_stay_so():
    """T48."""
    assert reason(new(size=MAX_BLOB + 1)) == "oversized: a.py"
    assert reason(new(size=MAX_BLOB + 1, binary=True)) == "oversized: a.py"
    assert reason(new(size=MAX_BLOB)) is None
    assert reason(edit(size=MAX_BLOB + 1)) is None


def test_content_that_git_would_filter_is_refused_and_its_removal_is_not():
    """The rule for LFS of facts/security.md §2.2: never committed unfiltered."""
    assert reason(edit("x.bin", filter="lfs"), rules=ALL) == "git filter lfs: x.bin"
    assert reason(gone("x.bin", filter="lfs")) is None
    assert reason(link("a.py", "x.bin", filter="lfs")) is None


def test_changed_line_endings_are_refused():
    """F1."""
    assert reason(edit(line_endings=True)) == "line endings: a.py"


@pytest.mark.parametrize(
    "path",
    [
        "pkg/__pycache__/a.txt",
        ".venv/x",
        "node_modules/x/y.js",
        "x.egg-info/PKG-INFO",
        ".DS_Store",
        "a.orig",
    ],
)
def test_what_a_tool_left_behind_is_refused_as_new_and_may_be_mended_where_it_was(path):
    """T48, T33."""
    assert reason(new(path)) == f"made by a tool: {path}"
    assert reason(edit(path)) is None
    assert reason(gone(path)) is None


def test_a_path_that_differs_only_by_case_from_one_that_is_there_is_refused():
    rules = Rules(existing=frozenset({"Read.me", "b.py", "cafe\u0301.py"}))

    assert reason(new("README.py"), rules=rules) is None
    assert reason(new("read.ME"), rules=rules) == "case collision: read.ME"
    assert reason(new("caf\xe9.py"), rules=rules) == "case collision: caf\xe9.py"
    assert reason(new("read.ME"), gone("Read.me"), rules=rules) is None
    assert reason(edit("Read.me"), rules=rules) is None


def test_two_new_paths_of_a_chain_that_differ_only_by_case_collide():
    chain = [
        commit(new("A.py"), sha="1"),
        commit(new("a.py"), sha="2"),
        commit(new("b.py"), new("B.py"), sha="3"),
    ]

    assert admit(chain, OPEN) == (
        ("1",),
        {"2": "case collision: a.py", "3": "case collision: B.py"},
    )


def test_a_refused_commit_stops_no_other():
    """V5."""
    chain = [
        commit(edit(), sha="1"),
        commit(edit(".github/x"), sha="2"),
        commit(edit("b.py"), sha="3"),
    ]

    assert admit(chain, OPEN) == (("1", "3"), {"2": "protected ci: .github/x"})


def test_names_that_are_not_utf_8_are_judged():
    """F9."""
    assert reason(edit("\udcff.py"), rules=Rules(globs=("*.py",))) is None
    assert reason(edit("\udcff.txt"), rules=Rules(globs=("*.py",))) == "scope: \udcff.txt"


CHANGES = st.builds(
    edit,
    path=st.sampled_from(["a.py", "b.py", "A.py", "tests/t.py", ".github/x", ".git/x", "x.txt"]),
    old_mode=st.sampled_from([ABSENT, "100644", "100755", "120000", "160000"]),
    new_mode=st.sampled_from([ABSENT, "100644", "100755", "120000", "160000"]),
    binary=st.booleans(),
    size=st.sampled_from([1, MAX_BLOB + 1]),
    line_endings=st.booleans(),
    link=st.sampled_from(["", "a.py", "/x"]),
)
CHAINS = st.lists(st.lists(CHANGES, max_size=3), max_size=5).map(
    lambda all_of_them: [commit(*changes, sha=str(n)) for n, changes in enumerate(all_of_them)]
)


@given(CHAINS)
def test_every_commit_is_admitted_or_refused_and_the_order_stays(chain):
    """Law."""
    admitted, refused = admit(chain, OPEN)

    assert set(admitted) | refused.keys() == {one.sha for one in chain}
    assert not refused.keys() & set(admitted)
    assert list(admitted) == sorted(admitted)
    assert all(refused.values())


@given(CHAINS, st.sets(st.sampled_from(["tests", "ci"])))
def test_opening_a_class_refuses_nothing_more(chain, opened):
    """Law, where no two paths collide: what one rule admits, a wider one admits."""
    narrow = {one.sha for one in chain if refusal(one, OPEN) is None}

    assert narrow <= {
        one.sha for one in chain if refusal(one, Rules(opened=frozenset(opened))) is None
    }


@given(CHAINS)
def test_what_never_may_land_never_is_admitted(chain):
    """Law, with everything open."""
    admitted, _ = admit(chain, ALL)

    for one in chain:
        if one.sha in admitted:
            assert one.changes
            for change in one.changes:
                assert "160000" not in (change.old_mode, change.new_mode)
                assert not change.path.startswith(".git/")
                assert change.deletes or change.new_mode == "120000" or not change.binary
                assert change.new_mode != "120000" or change.link == "a.py"


def test_a_new_secret_is_refused_by_its_place_and_kind():
    """S6."""
    leak = Leak(kind="AWS Access Key", path="a.py", line=3)
    plain = commit(edit())

    assert refusal(plain.model_copy(update={"leaks": (leak,)}), ALL) == (
        "new secret (AWS Access Key): a.py:3"
    )
    assert refusal(plain, ALL) is None
