"""How one content became another, by git's own diff."""

import pytest
from repos import Repo

from adapters.repository.contents import edits
from adapters.repository.hardened import GitFailed, Place
from domain.drift import hunks, moved

TEXTS = {
    "plain": "utf-8",
    "with zeros, which git takes for binary": "utf-16",
}


@pytest.fixture(name="repo")
def _repo(tmp_path):
    repo = Repo(tmp_path / "repo")
    repo.git("config", "diff.external", "false")
    return repo


def blob(repo, name, data):
    (repo.folder / name).write_bytes(data)
    return repo.git("hash-object", "-w", name).strip()


@pytest.mark.parametrize("encoding", TEXTS.values(), ids=TEXTS)
def test_a_line_is_followed_and_a_changed_one_is_lost(repo, encoding):
    old = blob(repo, "old", "one\ntwo\nthree\n".encode(encoding))
    new = blob(repo, "new", "one\nmore\ntwo!\nthree\n".encode(encoding))

    changed = hunks(edits(Place(git_dir=repo.folder / ".git"), old, new))

    assert [moved(line, changed) for line in (1, 2, 3)] == [1, None, 4]


def test_a_content_that_is_gone_is_no_answer(repo):
    here = blob(repo, "here", b"one\n")

    with pytest.raises(GitFailed):
        edits(Place(git_dir=repo.folder / ".git"), "1" * 40, here)
