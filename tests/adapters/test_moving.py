"""Moving a checkout by what differs: what can be stepped, and what git has to move."""

import os

import pytest
from repos import on_disk

from adapters.repository import moving, sweeping
from adapters.repository.git import GitFailed, git
from adapters.repository.workspaces import _gate, move_gate


@pytest.fixture(name="stepped")
def _stepped(campaign):
    """Look the gate's checkout of one commit over, and step to another: whether it could be done so."""
    place, folder = _gate(campaign.workspace), campaign.gate

    def stepped(old: str, new: str) -> bool:
        look = moving._look(place, folder, frozenset())
        rows = dict(moving._differences(place, old, new))
        return moving._stepped(place, folder, look, rows, frozenset())

    stepped.place = place
    return stepped


def test_plain_files_are_written_one_by_one_and_what_was_altered_is_mended(
    target, campaign, stepped
):
    old = target.commit({"a.py": "1\n", "b.py": "1\n", "run.sh": "1\n", "sub/c.py": "1\n"})
    new = target.commit({"a.py": "2\n", "sub/new.py": "2\n"})
    move_gate(campaign.workspace, old)
    (campaign.gate / "b.py").write_text("tampered\n")
    (campaign.gate / "run.sh").unlink()
    (campaign.gate / "sub" / "c.py").chmod(0o755)
    (campaign.gate / "sub" / "stranger").write_text("x")

    assert stepped(old, new)

    assert on_disk(campaign.gate) == {
        path: content for path, (_, content) in target.tree(new).items()
    }
    assert not os.access(campaign.gate / "sub" / "c.py", os.X_OK)
    # The index knows it too: git finds nothing to do, nor any difference to the commit.
    assert git(stepped.place, "diff-files", "--name-only") == b""
    assert git(stepped.place, "diff-index", "--cached", "--name-only", new) == b""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param({"a.py": "1\n", "b.py": "1\n"}, {"b.py": None}, id="a file removed"),
        pytest.param({"a": "1\n"}, {"a": None, "a/b.py": "1\n"}, id="a file that becomes a folder"),
        pytest.param({"a.py": "1\n"}, {".gitattributes": "*.py eol=crlf\n"}, id="attributes"),
    ],
)
def test_all_else_is_left_to_git(target, campaign, stepped, before, after):
    old = target.commit(before)
    new = target.commit(after)
    move_gate(campaign.workspace, old)

    assert not stepped(old, new)


def test_attributes_that_were_altered_are_left_to_git(target, campaign, stepped):
    old = target.commit({".gitattributes": "*.txt eol=lf\n", "a.py": "1\n"})
    new = target.commit({"a.py": "2\n"})
    move_gate(campaign.workspace, old)
    (campaign.gate / ".gitattributes").write_text("*.py eol=crlf\n")

    assert not stepped(old, new)


def test_a_look_that_fails_is_no_look(target, campaign):
    old = target.commit({"a.py": "1\n"})
    move_gate(campaign.workspace, old)
    index = _gate(campaign.workspace).index
    index.write_bytes(b"no index")

    moving.look_over(_gate(campaign.workspace), campaign.gate, old, frozenset())

    with pytest.raises(GitFailed):
        move_gate(campaign.workspace, old)
    index.unlink()
    move_gate(campaign.workspace, old)
    assert on_disk(campaign.gate)["a.py"] == b"1\n"


@pytest.mark.parametrize("deed", ["file", "folder", "link", "fifo", ".git"])
def test_a_folder_that_somebody_wrote_to_is_looked_through_again(tmp_path, monkeypatch, deed):
    """And only such a one: what is remembered of the others saves a second at 100,000 files."""
    monkeypatch.setattr(sweeping, "COARSE_NS", 0)
    root = tmp_path / "checkout"
    (root / "pkg" / "sub").mkdir(parents=True)
    (root / "pkg" / "a.py").write_text("1\n")
    files, seen = {"pkg/a.py", "pkg/sub/b.py"}, dict[str, sweeping.Seen]()
    assert not list(sweeping.strange(root, files))  # which gives them the mode they should have
    _until_the_clock_moves(tmp_path)
    assert not list(sweeping.strange(root, files, seen))
    before = dict(seen)
    assert before.keys() == {"", "pkg", "pkg/sub"}

    name = {"file": "new.py", "folder": "new", "link": "a link", "fifo": "pipe"}.get(deed, deed)
    stranger = root / "pkg" / name
    match deed:
        case "file":
            stranger.write_text("x")
        case "link":
            stranger.symlink_to(tmp_path)
        case "fifo":
            os.mkfifo(stranger)
        case _:
            stranger.mkdir()

    assert list(sweeping.strange(root, files, seen)) == [f"pkg/{name}"]
    assert {path for path in seen if seen[path] != before[path]} <= {"pkg"}
    stranger.rename(root / "pkg" / "sub" / name)
    assert list(sweeping.strange(root, files, seen)) == [f"pkg/sub/{name}"]


def test_a_folder_that_changed_just_now_is_not_remembered(tmp_path):
    (tmp_path / "checkout" / "pkg").mkdir(parents=True)
    seen = dict[str, sweeping.Seen]()

    assert not list(sweeping.strange(tmp_path / "checkout", {"pkg/a.py"}, seen))

    assert not seen


def _until_the_clock_moves(folder):
    """A file system's clock stands still for some milliseconds."""
    probe = folder / "probe"
    probe.touch()
    began = probe.stat().st_ctime_ns
    while probe.stat().st_ctime_ns <= began:
        probe.touch()
