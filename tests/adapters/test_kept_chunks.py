"""The plan a review goes by: counted, kept, and moved by nobody else's edit."""

import random
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from repos import Repo

from adapters import tokens
from adapters.repository.chunks import plan_of
from adapters.repository.kept_chunks import Overtaken, chunk_of, keep, whole
from adapters.repository.plans import NAME
from domain.chunk import Part, Plan, Settings
from domain.chunk_cuts import text_of
from domain.value import Refused

SMALL = Settings(400)


def lines(count: int, word: str = "value") -> str:
    return "".join(f"{word}_{n} = {n}\n" for n in range(count))


@pytest.fixture(name="repo")
def _repo(tmp_path: Path) -> Repo:
    repo = Repo(tmp_path / "repo")
    repo.commit({f"d{n % 5}/f{n}.py": lines(3 + n % 11, f"w{n}") for n in range(40)})
    return repo


def shown(repo: Repo, part: Part) -> bytes:
    """The bytes of a part, cut as a reader would."""
    content = repo.raw("cat-file", "blob", part.blob)
    if not part.last_line:
        return content
    return b"".join(content.splitlines(keepends=True)[part.first_line - 1 : part.last_line])


def check(repo: Repo, plan: Plan, settings: Settings = SMALL) -> None:
    """Every byte of every text once, in the content it has now, and no chunk over the budget in real tokens."""
    tree = repo.tree("HEAD")
    found: Counter[str] = Counter()
    for chunk in plan.chunks:
        contents = [shown(repo, part) for part in chunk.parts]
        assert [len(content) for content in contents] == [part.bytes for part in chunk.parts]
        counted = [tokens.count(text_of(content)) for content in contents]
        assert counted == [part.tokens for part in chunk.parts]
        assert sum(counted) <= settings.max_tokens
        for part in chunk.parts:
            assert part.blob == repo.git("rev-parse", f"HEAD:{part.path}")
            found[part.path] += part.bytes
    assert found == {path: len(content) for path, (_, content) in tree.items() if content and b"\0" not in content}  # fmt: skip


def where(plan: Plan) -> dict[str, set[str]]:
    return {chunk.name: {part.path for part in chunk.parts} for chunk in plan.chunks}


def test_the_first_plan_is_counted_and_whole(repo: Repo):
    planned = whole(keep(str(repo.folder), SMALL))

    check(repo, planned.plan)
    assert planned.counted


def test_the_first_plan_is_the_same_in_every_home(repo: Repo, monkeypatch, tmp_path: Path):
    one = whole(keep(str(repo.folder), SMALL)).plan
    monkeypatch.setenv("SWATHE_HOME", str(tmp_path / "other home"))
    other = whole(keep(str(repo.folder), SMALL)).plan

    assert repr(one) == repr(other)


def test_an_unchanged_tree_keeps_its_plan_byte_for_byte(repo: Repo):
    one = keep(str(repo.folder), SMALL)
    repo.git("commit", "-q", "--allow-empty", "-m", "the same tree")
    other = keep(str(repo.folder), SMALL)

    assert one.where.commit != other.where.commit
    assert whole(one).plan == whole(other).plan
    assert one.digest == other.digest


def test_an_edit_moves_no_other_file_and_changes_the_digest(repo: Repo):
    before = keep(str(repo.folder), SMALL)
    plan = whole(before).plan
    repo.commit({"d1/f1.py": lines(3, "x")})

    after = keep(str(repo.folder), SMALL)

    check(repo, whole(after).plan)
    changed = [c for c in whole(after).plan.chunks if c not in plan.chunks]
    assert [[part.path for part in c.parts if part.path == "d1/f1.py"] for c in changed] == [["d1/f1.py"]]  # fmt: skip
    assert where(plan) == where(whole(after).plan)
    assert after.digest != before.digest


def test_a_history_of_edits_keeps_every_promise(repo: Repo):
    draw = random.Random(5)
    keep(str(repo.folder), SMALL)
    for step in range(25):
        paths = sorted(repo.tree("HEAD"))
        kind = draw.choice(["edit", "edit", "grow", "add", "delete", "rename"])
        path = draw.choice(paths)
        if kind == "rename":
            repo.git("mv", path, f"{path}.moved{step}.py")
            repo.commit({})
        else:
            size = {"edit": 8, "grow": 120, "add": 30, "delete": 0}[kind]
            name = f"d{step % 7}/new{step}.py" if kind == "add" else path
            repo.commit({name: lines(size, f"s{step}") if size else None})

        check(repo, whole(keep(str(repo.folder), SMALL)).plan)


def test_a_file_larger_than_a_chunk_is_cut_by_its_lines(repo: Repo):
    repo.commit({"d0/long.py": lines(300)})

    plan = whole(keep(str(repo.folder), SMALL)).plan

    check(repo, plan)
    parts = [part for part in plan.parts if part.path == "d0/long.py"]
    ranges = sorted((part.first_line, part.last_line) for part in parts)
    assert len(ranges) > 2
    assert ranges[0][0] == 1
    assert ranges[-1][1] == 300
    assert all(b[0] == a[1] + 1 for a, b in pairwise(ranges))


def test_one_chunk_is_read_without_the_others(repo: Repo):
    kept = keep(str(repo.folder), SMALL)

    chunks = whole(kept).plan.chunks
    assert tuple(chunk_of(kept, position) for position in kept.tokens) == chunks
    assert list(kept.tokens.values()) == [chunk.tokens for chunk in chunks]


def test_what_only_the_content_tells_is_found_out_and_counted(repo: Repo):
    repo.commit(
        {
            "d0/data": b"\0\1\2",
            "d0/made.py": "# Code generated by hand. DO NOT EDIT.\n",
            "d0/pointer": "version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
        }
    )

    assert plan_of(str(repo.folder), SMALL).plan.skipped == {}
    kept = keep(str(repo.folder), SMALL)
    assert kept.skipped == {"LFS pointer": 1, "binary": 1, "generated": 1}

    repo.commit({"d0/data": None, "d0/made.py": "by_hand = 1\n"})
    assert keep(str(repo.folder), SMALL).skipped == {"LFS pointer": 1}


def test_attributes_that_change_are_heard(repo: Repo):
    keep(str(repo.folder), SMALL)
    repo.commit({".gitattributes": "d1/** linguist-generated\n"})

    kept = keep(str(repo.folder), SMALL)
    assert not [part for part in whole(kept).plan.parts if part.path.startswith("d1/")]
    assert kept.skipped == {"generated": 8}

    repo.commit({"d1/f1.py": "x = 2\n", "d2/f2.py": "x = 3\n"})
    kept = keep(str(repo.folder), SMALL)
    assert kept.skipped == {"generated": 8}
    assert "d2/f2.py" in {part.path for part in whole(kept).plan.parts}

    repo.commit({".gitattributes": None})
    check(repo, whole(keep(str(repo.folder), SMALL)).plan)


def test_other_settings_have_a_plan_of_their_own(repo: Repo):
    one = keep(str(repo.folder), SMALL)
    other = keep(str(repo.folder), Settings(400, ("d1/**",)))

    assert {part.path[:2] for part in whole(other).plan.parts} == {"d1"}
    assert keep(str(repo.folder), SMALL) == one


def test_a_scope_from_which_all_went_away_is_refused(repo: Repo):
    scoped = Settings(400, ("d1/f1.py",))
    keep(str(repo.folder), scoped)
    repo.commit({"d1/f1.py": None})

    with pytest.raises(Refused, match="matches --paths"):
        keep(str(repo.folder), scoped)


def test_a_plan_that_was_overtaken_says_so(repo: Repo):
    kept = keep(str(repo.folder), SMALL)
    repo.commit({"d1/f1.py": "x = 2\n"})
    keep(str(repo.folder), SMALL)

    with pytest.raises(Overtaken):
        whole(kept)


@pytest.mark.parametrize(
    "rubbish", [b"", b"no database at all\n" * 100, b"SQLite format 3\0" + b"x" * 5000]
)
def test_a_lost_database_is_made_anew(repo: Repo, home: Path, rubbish: bytes):
    one = whole(keep(str(repo.folder), SMALL)).plan
    (home / NAME).write_bytes(rubbish)

    assert whole(keep(str(repo.folder), SMALL)).plan == one


def test_a_plan_made_anew_is_the_one_that_nobody_planned_before(repo: Repo, monkeypatch, tmp_path):
    keep(str(repo.folder), SMALL)
    repo.commit({f"d9/g{n}.py": lines(9, f"n{n}") for n in range(9)})
    kept = keep(str(repo.folder), SMALL)

    anew = keep(str(repo.folder), SMALL, anew=True)
    monkeypatch.setenv("SWATHE_HOME", str(tmp_path / "other home"))
    assert keep(str(repo.folder), SMALL) == anew != kept


def test_a_file_that_no_cut_can_make_smaller_is_shown_all_the_same(repo: Repo):
    repo.commit({"d0/line.txt": "one " * 900 + "\nshort\n"})

    plan = whole(keep(str(repo.folder), SMALL)).plan

    over = [chunk for chunk in plan.chunks if chunk.tokens > 400]
    assert [[part.path for part in chunk.parts] for chunk in over] == [["d0/line.txt"]]
    assert over[0].parts[0].first_line == over[0].parts[0].last_line == 1


def test_nothing_is_written_into_the_target(repo: Repo):
    before = repo.snapshot()

    whole(keep(str(repo.folder), SMALL))

    assert repo.snapshot() == before
