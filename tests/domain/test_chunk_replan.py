"""Stickiness: what nobody edited stays where it is."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from domain.chunk import Chunk, Part
from domain.chunk_packing import packed
from domain.chunk_replan import SLACK, Pieces, Replanning, Standing, folder_of

BUDGET = 1000

Chunks = dict[int, Chunk]


def part(path: str, tokens: int, version: int = 0) -> Part:
    return Part(path, f"{path}@{version}@{tokens}", 1, 0, tokens * 4, tokens)


def begun(files: dict[str, int]) -> Chunks:
    packages: dict[str, list[Part]] = {}
    for path in sorted(files):
        packages.setdefault(folder_of(path), []).append(part(path, files[path]))
    return dict(enumerate(packed(packages, BUDGET)))


def replanned(chunks: Chunks, pieces: Pieces) -> Chunks:
    homes: dict[str, set[int]] = {}
    for position, chunk in chunks.items():
        for one in chunk.parts:
            homes.setdefault(folder_of(one.path), set()).add(position)
    standing = Standing(
        {position: chunk.tokens for position, chunk in chunks.items()},
        chunks.__getitem__,
        lambda folder: homes.get(folder, ()),
        lambda: [chunk.name for chunk in chunks.values()],
    )
    touched = Replanning(standing, BUDGET).change(pieces)
    after = {**chunks, **touched}
    return {position: chunk for position, chunk in sorted(after.items()) if chunk}


def where(chunks: Chunks) -> dict[tuple[str, int], int]:
    return {
        (one.path, one.first_line): position for position, c in chunks.items() for one in c.parts
    }


def pieces_of(path: str, tokens: int, version: int) -> tuple[Part, ...]:
    """A file as it is, or in stretches of at most a chunk."""
    if tokens <= BUDGET:
        return (part(path, tokens, version),)
    cuts = range(0, tokens, BUDGET)
    return tuple(
        Part(path, f"{path}@{version}", start + 1, start + BUDGET, BUDGET, min(BUDGET, tokens - start))
        for start in cuts
    )  # fmt: skip


PATHS = st.builds(
    "{}/{}".format, st.sampled_from(["a", "a/b", "c", "d", "e"]), st.integers(0, 15).map(str)
)
TREES = st.dictionaries(PATHS, st.integers(1, BUDGET), min_size=1, max_size=50)
EDITS = st.lists(st.tuples(PATHS, st.integers(0, 2600)), max_size=12)


def edit(chunks: Chunks, files: dict[str, int], edits: list[tuple[str, int]]) -> Chunks:
    """One edit after the other; no tokens: the file goes away."""
    for version, (path, tokens) in enumerate(edits, 1):
        files.pop(path, None)
        if tokens:
            files[path] = tokens
        chunks = replanned(chunks, {path: pieces_of(path, tokens, version) if tokens else ()})
    return chunks


@given(TREES, EDITS)
def test_after_any_edits_every_token_is_in_exactly_one_chunk(files, edits):
    chunks = edit(begun(files), files, edits)

    shown: Counter[str] = Counter()
    for chunk in chunks.values():
        for one in chunk.parts:
            shown[one.path] += one.tokens
    assert shown == files


@given(TREES, EDITS)
def test_after_any_edits_no_chunk_is_over_the_budget(files, edits):
    for chunk in edit(begun(files), files, edits).values():
        assert 0 < chunk.tokens <= BUDGET


@given(TREES, EDITS)
def test_after_any_edits_no_two_chunks_have_one_name(files, edits):
    names = [chunk.name for chunk in edit(begun(files), files, edits).values()]

    assert len(set(names)) == len(names)


@given(TREES, st.data())
def test_an_edit_moves_no_other_file(files, data):
    path = data.draw(st.sampled_from(sorted(files)))
    tokens = data.draw(st.integers(files[path], 2 * BUDGET))
    before = begun(files)

    after = replanned(before, {path: pieces_of(path, tokens, 1)})

    stayed = {key: at for key, at in where(before).items() if key[0] != path}
    assert {key: at for key, at in where(after).items() if key[0] != path} == stayed


@given(TREES, st.data())
def test_an_edit_of_a_file_changes_two_chunks_at_most(files, data):
    path = data.draw(st.sampled_from(sorted(files)))
    tokens = data.draw(st.integers(files[path], BUDGET))
    before = begun(files)

    after = replanned(before, {path: pieces_of(path, tokens, 1)})

    changed = [p for p in {*before, *after} if before.get(p) != after.get(p)]
    assert 1 <= len(changed) <= 2


@given(TREES)
def test_an_edit_that_has_room_changes_one_chunk_alone(files):
    path = min(files)
    before = begun(files)

    after = replanned(before, {path: (part(path, files[path], 7),)})

    changed = [p for p in {*before, *after} if before.get(p) != after.get(p)]
    assert len(changed) == 1


@given(TREES, EDITS)
def test_the_same_history_makes_the_same_plan(files, edits):
    one, other = edit(begun(files), dict(files), edits), edit(begun(files), dict(files), edits)

    assert one == other


@given(st.lists(st.integers(20, 300), min_size=60, max_size=120), st.data())
@settings(max_examples=30)
def test_where_many_files_go_away_so_do_chunks(sizes, data):
    files = {f"d{n % 9}/{n}": tokens for n, tokens in enumerate(sizes)}
    gone = data.draw(st.lists(st.sampled_from(sorted(files)), min_size=30, unique=True))
    chunks = begun(files)
    for path in gone:
        files.pop(path)
        chunks = replanned(chunks, {path: ()})

    needed = -(-sum(files.values()) // BUDGET)
    assert len(chunks) <= max(SLACK * needed, needed + 1) + 1


def test_a_new_file_joins_its_folder():
    chunks = begun({"a/1": 300, "b/1": 900, "c/1": 800})

    after = replanned(chunks, {"c/2": (part("c/2", 150),)})

    assert where(after)["c/2", 1] == where(after)["c/1", 1]


def test_a_file_that_grows_out_of_its_chunk_leaves_alone():
    chunks = begun({"a/1": 300, "a/2": 300, "a/3": 300})

    after = replanned(chunks, {"a/2": (part("a/2", 600, 1),)})

    assert [sorted(one.path for one in chunk.parts) for chunk in after.values()] == [
        ["a/1", "a/3"],
        ["a/2"],
    ]
