"""The plan of a review, from real repositories."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from repos import HOSTILE, Repo

from adapters.repository.chunks import Planned, plan_of
from domain.chunk import Settings
from domain.value import Refused

TEXT = "word word word\n" * 20


def paths(planned: Planned) -> set[str]:
    return {part.path for part in planned.plan.parts}


def test_every_tracked_text_is_planned_with_the_size_and_the_id_that_git_gives(target: Repo):
    planned = plan_of(str(target.folder), Settings())

    tree = target.tree("HEAD")
    found = {part.path: (part.blob, part.bytes) for part in planned.plan.parts}
    assert found == {
        path: (target.git("rev-parse", f"HEAD:{path}"), len(content))
        for path, (_, content) in tree.items()
    }
    assert planned.where.commit == target.head


def test_hostile_names_are_planned_byte_for_byte(target: Repo):
    target.commit(dict.fromkeys(HOSTILE, TEXT))

    assert paths(plan_of(str(target.folder), Settings())) >= set(HOSTILE)


def test_what_is_committed_is_planned_and_not_what_lies_there(target: Repo):
    target.write({"new.py": TEXT, "a.py": "changed\n"})

    planned = plan_of(str(target.folder), Settings())

    assert "new.py" not in paths(planned)
    assert sum(part.bytes for part in planned.plan.parts if part.path == "a.py") == len(
        target.tree("HEAD")["a.py"][1]
    )


def test_two_clones_have_one_plan_byte_for_byte(target: Repo, tmp_path: Path):
    target.commit({f"d{n % 7}/f{n}.py": TEXT * n for n in range(1, 60)})
    target.git("clone", "-q", str(target.folder), str(tmp_path / "clone"))

    one, other = (plan_of(str(p), Settings(2000)) for p in (target.folder, tmp_path / "clone"))

    assert len(one.plan.chunks) > 5
    assert repr(one.plan) == repr(other.plan)


def test_links_and_submodules_are_left_out_and_counted(target: Repo, tmp_path: Path):
    (target.folder / "link.py").symlink_to("a.py")
    inner = Repo(tmp_path / "inner")
    inner.commit({"x.py": TEXT})
    target.git(
        "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner.folder), "sub"
    )
    target.commit({})

    planned = plan_of(str(target.folder), Settings())

    assert planned.plan.skipped == {"submodule": 1, "symlink": 1}


ATTRIBUTES = """\
made/*.py linguist-generated
lib/** linguist-vendored=true
lib/ours.py -linguist-vendored
*.blob binary
*.model filter=lfs diff=lfs merge=lfs -text
"""


def test_the_attributes_are_git_s_own_answer(target: Repo):
    files = ("made/a.py", "lib/x.py", "lib/ours.py", "x.blob", "x.model", "src/made/a.py")
    target.commit({".gitattributes": ATTRIBUTES, **dict.fromkeys(files, TEXT)})

    planned = plan_of(str(target.folder), Settings())

    assert paths(planned).isdisjoint({"made/a.py", "lib/x.py", "x.blob", "x.model"})
    assert paths(planned) >= {"lib/ours.py", "src/made/a.py", ".gitattributes"}
    assert planned.plan.skipped == {"LFS pointer": 1, "binary": 1, "generated": 1, "vendored": 1}


def test_attributes_that_say_nothing_of_this_leave_all_in(target: Repo):
    target.commit({".gitattributes": "*.py text eol=lf\n"})

    assert plan_of(str(target.folder), Settings()).plan.skipped == {}


def test_the_scope_is_no_advice(target: Repo):
    planned = plan_of(str(target.folder), Settings(paths=("pkg/**",)))

    assert paths(planned) == {"pkg/b.py"}
    assert planned.plan.skipped == {"outside of --paths": 2}


def test_a_scope_that_matches_nothing_is_refused(target: Repo):
    with pytest.raises(Refused, match=r"no file .* matches --paths 'sr/\*\*'"):
        plan_of(str(target.folder), Settings(paths=("sr/**",)))


def test_a_repository_of_nothing_to_read_is_refused(tmp_path: Path):
    repo = Repo(tmp_path / "pictures")
    repo.commit({"a.png": b"\x89PNG", "b.lock": "x\n"})

    with pytest.raises(Refused, match="1 binary, 1 lock file"):
        plan_of(str(repo.folder), Settings())


def test_a_file_that_a_rule_of_git_ignores_is_planned_when_it_is_tracked(target: Repo):
    target.write({".gitignore": "pkg/\n", "pkg/c.py": TEXT})
    target.git("add", "-f", "-A")
    target.git("commit", "-q", "-m", "all")

    assert "pkg/c.py" in paths(plan_of(str(target.folder), Settings()))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (Repo, "has no commit yet"),
        (lambda folder: Repo(folder, "--bare"), "is a bare repository"),
        (lambda folder: folder.mkdir(), "is not a git repository"),
        (lambda folder: None, "no folder"),
    ],
)
def test_what_is_no_repository_with_a_commit_is_refused(
    tmp_path: Path, make: Callable[[Path], object], words: str
):
    make(tmp_path / "here")

    with pytest.raises(Refused, match=words):
        plan_of(str(tmp_path / "here"), Settings())


def test_an_unknown_base_is_refused_and_a_known_one_is_planned(target: Repo):
    first = target.head
    target.commit({"late.py": TEXT})

    with pytest.raises(Refused, match="no commit 'nowhere'"):
        plan_of(str(target.folder), Settings(), "nowhere")
    assert "late.py" not in paths(plan_of(str(target.folder), Settings(), first))


def test_a_linked_worktree_and_a_folder_with_a_newline_are_planned(target: Repo, tmp_path: Path):
    other = tmp_path / "new\nline"
    target.git("worktree", "add", "-q", "-b", "side", str(other))
    Repo(other, init=False).commit({"side.py": TEXT})

    assert "side.py" in paths(plan_of(str(other), Settings()))
    assert "side.py" not in paths(plan_of(str(target.folder), Settings()))


def test_nothing_is_written_into_the_target_or_our_home(target: Repo, home: Path):
    before = target.snapshot()

    plan_of(str(target.folder), Settings())

    assert target.snapshot() == before
    assert not home.exists()


def test_an_address_is_planned_from_our_mirror(target: Repo):
    planned = plan_of(f"file://{target.folder}", Settings())

    assert paths(planned) == set(target.tree("HEAD"))


def test_nothing_of_the_environment_speaks_for_git(target: Repo, tmp_path: Path):
    other = Repo(tmp_path / "other")
    other.commit({"other.py": TEXT})
    os.environ["GIT_DIR"] = str(other.folder / ".git")

    assert "other.py" not in paths(plan_of(str(target.folder), Settings()))
