from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.chunk import Part, Plan, Settings, most_tokens
from domain.chunk_packing import packed, planned
from domain.chunk_skips import Entry, Known, Sieve, sift, telling
from domain.skipped import Marks, skipped_by_name

BUDGET = 1000
REGULAR = "100644"
SMALL, PLAIN = Settings(BUDGET), Sieve()

NAMES = st.sampled_from(
    ["a.py", "b.py", "c.go", "d.md", "README", "x.min.js", "y.png", "z.lock", "q_pb2.py", ".hidden"]
)
FOLDERS = st.sampled_from(["", "src", "src/api", "src/api/v1", "docs", "vendor/x", "a#2", "a"])


def entry(path: str, size: int = 100, blob: str = "", mode: str = REGULAR) -> Entry:
    return (mode, blob or f"{abs(hash((path, size))):040x}", size, path)


@st.composite
def trees(draw: st.DrawFn) -> list[Entry]:
    """Listings as git gives them: in order, no path twice."""
    sizes = st.integers(0, 12_000)
    found = draw(st.dictionaries(st.tuples(FOLDERS, st.integers(0, 30), NAMES), sizes, max_size=60))
    paths = {
        f"{folder}/{number}{name}".lstrip("/"): size
        for (folder, number, name), size in found.items()
    }
    return [entry(path, size) for path, size in sorted(paths.items())]


def plan_of(tree: list[Entry], settings: Settings = SMALL, sieve: Sieve = PLAIN) -> Plan:
    return planned(sift(tree, sieve), settings)


@given(trees())
def test_every_eligible_byte_is_in_exactly_one_chunk(tree):
    plan = plan_of(tree)

    shown: Counter[str] = Counter()
    for part in plan.parts:
        shown[part.path] += part.bytes
    sizes = {path: size for _, _, size, path in tree}
    assert all(sizes[path] == size for path, size in shown.items())
    assert len(shown) + sum(plan.skipped.values()) == len(tree)


@given(trees())
def test_no_chunk_is_over_the_budget_and_none_is_empty(tree):
    for chunk in plan_of(tree).chunks:
        assert 0 < chunk.tokens <= BUDGET


@given(trees())
def test_the_same_tree_makes_the_same_plan(tree):
    assert plan_of(tree) == plan_of(list(tree))


@given(trees())
def test_no_two_chunks_have_one_name(tree):
    names = [chunk.name for chunk in plan_of(tree).chunks]

    assert len(set(names)) == len(names)


@given(trees(), st.integers(1, 3))
def test_a_smaller_budget_never_makes_fewer_chunks_than_are_needed(tree, times):
    plan = plan_of(tree, Settings(BUDGET * times))

    tokens = sum(part.tokens for part in plan.parts)
    assert len(plan.chunks) >= -(-tokens // (BUDGET * times))


@given(st.text(alphabet="abc_.-*generatdlockpbminjsuy2zD", max_size=20) | NAMES)
def test_a_name_that_says_nothing_is_skipped_by_no_rule(name):
    if not telling(name):
        assert skipped_by_name(f"src/{name}") is None


@pytest.mark.parametrize(
    "name", ["a_pb2.py", "go.sum", "zz_generated.deepcopy.go", "x.generated.ts", "jquery.min.js"]
)
def test_a_name_that_is_skipped_says_something(name):
    assert telling(name)


def test_folders_stay_together_while_they_fit():
    tree = [entry(f"{folder}/{n}.md", 780) for folder in ("a", "b", "c") for n in range(4)]

    plan = plan_of(tree)  # 200 tokens a file, 800 a folder

    assert [{part.path[0] for part in chunk.parts} for chunk in plan.chunks] == [
        {"a"},
        {"b"},
        {"c"},
    ]
    assert [chunk.name for chunk in plan.chunks] == ["a", "b", "c"]


def test_a_folder_that_is_too_large_is_taken_apart_by_files():
    plan = plan_of([entry(f"a/{n}.md", 1560) for n in range(5)])  # 400 tokens each

    assert [len(chunk.parts) for chunk in plan.chunks] == [2, 2, 1]
    assert [chunk.name for chunk in plan.chunks] == ["a", "a#2", "a#3"]


def test_a_file_that_is_too_large_and_unread_is_taken_apart_by_bytes_without_lines():
    plan = plan_of([entry("a/long.md", 9000)])

    parts = list(plan.parts)
    assert len(parts) == 3
    assert sum(part.bytes for part in parts) == 9000
    assert {(part.first_line, part.last_line) for part in parts} == {(0, 0)}


def test_a_file_that_is_too_large_and_was_read_is_taken_apart_by_lines():
    cuts = {"b" * 40: (Part("", "b" * 40, 1, 80, 5000, 900), Part("", "b" * 40, 81, 0, 4000, 800))}
    parts = [Part("a/long.md", "b" * 40, 1, 0, 9000, 1700)]

    chunks = packed({"a": parts}, BUDGET, cuts)

    shown = [part for chunk in chunks for part in chunk.parts]
    assert [(p.path, p.first_line, p.last_line) for p in shown] == [
        ("a/long.md", 1, 80),
        ("a/long.md", 81, 0),
    ]


def test_what_is_no_text_of_this_repository_is_left_out_and_counted():
    tree = [
        entry("a.py"),
        entry("empty.py", 0),
        entry("link.py", 5, mode="120000"),
        entry("module", 0, mode="160000"),
        entry("logo.PNG"),
        entry("poetry.lock"),
        entry("vendor/x.py"),
        entry("x_pb2.py"),
        entry("zz_generated.deepcopy.go"),
        entry("x.min.js"),
        entry(".github/workflows/ci.yml"),
        entry("Dockerfile"),
        entry("page.css"),
    ]

    plan = plan_of(tree)

    assert {part.path for part in plan.parts} == {
        "a.py", ".github/workflows/ci.yml", "Dockerfile", "page.css",
    }  # fmt: skip
    assert plan.skipped == {
        "binary": 1, "empty": 1, "generated": 2, "lock file": 1, "minified": 1, "submodule": 1, "symlink": 1, "vendored": 1,
    }  # fmt: skip


def test_generated_files_can_be_asked_for_and_binary_ones_cannot():
    tree = [entry("x_pb2.py"), entry("vendor/x.py"), entry("logo.png"), entry("vendor/logo.png")]

    plan = plan_of(tree, sieve=Sieve(include_generated=True))

    assert {part.path for part in plan.parts} == {"x_pb2.py", "vendor/x.py"}
    assert plan.skipped == {"binary": 2}


def test_the_attributes_of_the_repository_are_believed():
    marks = {"a.py": Marks(generated=True), "b.txt": Marks(binary=True), "c.txt": Marks(lfs=True), "x_pb2.py": Marks(generated=False)}  # fmt: skip
    plan = plan_of([entry(path) for path in (*marks, "d.py")], sieve=Sieve(marks=marks))

    assert {part.path for part in plan.parts} == {"x_pb2.py", "d.py"}
    assert plan.skipped == {"LFS pointer": 1, "binary": 1, "generated": 1}


def test_what_a_content_turned_out_to_be_is_known_by_its_id():
    known = {"1" * 40: Known(7), "2" * 40: Known(0, "binary"), "3" * 40: Known(50, "generated")}
    tree = [
        entry("a.py", 400, "1" * 40),
        entry("b.py", 400, "2" * 40),
        entry("c.py", 400, "3" * 40),
    ]

    plan = plan_of(tree, sieve=Sieve(known=known))
    assert [(part.path, part.tokens) for part in plan.parts] == [("a.py", 7)]
    assert plan.skipped == {"binary": 1, "generated": 1}

    wider = plan_of(tree, sieve=Sieve(known=known, include_generated=True))
    assert [(part.path, part.tokens) for part in wider.parts] == [("a.py", 7), ("c.py", 50)]


def test_the_digest_is_of_content_scope_and_settings_and_of_no_estimate():
    tree = [entry("a.py", 400, "1" * 40), entry("b.py", 400, "2" * 40)]
    plan = plan_of(tree)

    counted = plan_of(tree, sieve=Sieve(known={"1" * 40: Known(7)}))
    edited = plan_of([entry("a.py", 400, "3" * 40), tree[1]])
    scoped = plan_of(tree[:1], Settings(BUDGET, ("a.py",)))
    larger = plan_of(tree, Settings(BUDGET + 1))
    same = {plan.digest, counted.digest}
    assert len(same) == 1
    assert len({*same, edited.digest, scoped.digest, larger.digest}) == 4


def test_a_window_makes_chunks_smaller_and_never_larger():
    assert most_tokens(30_000) == 30_000
    assert most_tokens(30_000, 20_000, 45) == 9_000
    assert most_tokens(30_000, 1_000_000, 45) == 30_000
    assert all(
        a >= b for a, b in pairwise(most_tokens(30_000, w, 45) for w in range(90_000, 1, -997))
    )
