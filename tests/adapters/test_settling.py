"""Settling: what was decided becomes commits, refs and one state; twice is once."""

import os
import random
from pathlib import Path

import pytest
from git import GitCommandError
from repos import HOSTILE, Repo, fired

from adapters.repository.landing import Moved
from adapters.repository.settling import Signature, save, settle
from adapters.repository.workspaces import move_agent, move_gate
from domain.batch import Outcome
from domain.state import State, read

BRANCH = "refs/heads/swathe/ruff-up"
STATE = "refs/swathe/ruff-up/state"


def state_of(target: Repo) -> State:
    return read(target.raw("cat-file", "blob", f"{STATE}:state.json"), STATE)


def landed(target: Repo) -> list[str]:
    return target.git("log", "--reverse", "--format=%H", f"main..{BRANCH}").splitlines()


def test_good_commits_land_in_order_and_the_state_names_them(target, campaign):
    settled = campaign.land({"a.py": "2\n"}, {"pkg/b.py": "3\n"}, {"a.py": "4\n"})

    assert landed(target) == [commit.sha for commit in settled.landed]
    assert target.refs[BRANCH] == settled.tip == state_of(target).tip
    assert state_of(target).landed == settled.landed
    assert target.git("rev-parse", f"{landed(target)[0]}^") == target.head
    assert target.git("ls-tree", "--name-only", STATE) == "state.json"
    assert target.git("fsck", "--strict", "--no-dangling") == ""


def test_trailers_say_where_a_commit_comes_from(target, campaign):
    chain = campaign.chain({"a.py": "2\n"})
    campaign.settle(chain, chain.commits)

    trailers = dict(
        line.split(": ", 1)
        for line in target.git("log", "-1", "--format=%(trailers:only,unfold)", BRANCH).splitlines()
        if line
    )

    assert trailers == {
        "Swathe-Axis": "ruff:UP",
        "Swathe-Site": "a.py:1",
        "Swathe-Run": "r1",
        "Swathe-Executor": "codemod",
        "Swathe-Gate": "alone",
        "Swathe-Sandbox": "off",
        "Swathe-Cost-USD": "0",
    }
    assert (
        target.git("log", "-1", "--format=%an <%ae> %cn", BRANCH)
        == "Swathe <swathe@localhost> Swathe"
    )


def test_settling_again_gives_the_same_ids_and_changes_nothing(target, campaign):
    chain = campaign.chain({"a.py": "2\n"}, {"pkg/b.py": "3\n"}, {"a.py": "4\n"})
    first = campaign.settle(
        chain, chain.commits[:1], chain.commits[1:2], {chain.commits[2].sha: "scope: a.py"}
    )
    refs, snapshot = target.refs, target.snapshot()

    again = campaign.settle(
        chain, chain.commits[:1], chain.commits[1:2], {chain.commits[2].sha: "scope: a.py"}
    )

    assert (again.tip, again.landed, again.parked) == (first.tip, (), ())
    assert target.refs == refs
    assert target.snapshot() == snapshot


def test_a_settling_whose_refs_were_lost_makes_the_same_commits(target, campaign):
    """A kill before the refs moved: the retried step writes the same ids."""
    chain = campaign.chain({"a.py": "2\n"}, {"pkg/b.py": "3\n"})
    first = campaign.settle(chain, chain.commits[:1], chain.commits[1:])
    refs = target.refs
    for ref in refs:
        if "swathe" in ref:
            target.git("update-ref", "-d", ref)

    again = campaign.settle(chain, chain.commits[:1], chain.commits[1:])

    assert again == first
    assert target.refs == refs


def test_a_pass_is_landed_bit_by_bit_as_its_commits_turn_green(target, campaign):
    chain = campaign.chain({"a.py": "2\n"}, {"pkg/b.py": "3\n"}, {"a.py": "4\n"})
    for count in (1, 2, 3):
        campaign.settle(chain, chain.commits[:count])

    assert len(landed(target)) == 3
    assert target.git("rev-parse", f"{BRANCH}^{{tree}}") == chain.commits[-1].tree
    assert len(state_of(target).landed) == 3
    assert target.git("rev-list", "--count", STATE) == "3"


def test_commits_land_in_the_order_they_were_found_good(target, campaign):
    chain = campaign.chain({"a.py": "2\n"}, {"pkg/b.py": "3\n"})

    settled = campaign.settle(chain, chain.commits[::-1])

    assert [commit.made_from for commit in settled.landed] == [c.sha for c in chain.commits[::-1]]
    assert target.changed(landed(target)[0]) == {"pkg/b.py"}


def test_a_commit_lands_without_the_bad_one_before_it_in_its_file(target, campaign):
    """F14."""
    base = target.tree("HEAD")["a.py"][1].decode()
    one, both = base.replace("two", "TWO"), base.replace("two", "TWO").replace("eight", "EIGHT")
    chain = campaign.chain({"a.py": one}, {"a.py": both})

    campaign.settle(chain, chain.commits[1:], chain.commits[:1])

    assert target.tree(BRANCH)["a.py"][1].decode() == base.replace("eight", "EIGHT")


def test_a_parked_commit_is_kept_with_its_reason_where_it_can_be_picked(target, campaign):
    chain = campaign.chain({"a.py": "2\n"}, {"pkg/b.py": "3\n"})

    settled = campaign.settle(chain, chain.commits[:1], chain.commits[1:])
    (parked,) = state_of(target).parked

    assert settled.parked == (parked,)
    assert target.refs[parked.ref] == parked.sha
    assert (parked.reason, parked.failures[0].test) == ("red", "tests/test_a.py::test_a")
    assert "Swathe-Parked: red" in target.git("log", "-1", "--format=%B", parked.ref)
    target.git("checkout", "-q", "--detach", BRANCH)
    target.git("cherry-pick", parked.sha)
    assert target.git("rev-parse", "HEAD^{tree}") == chain.commits[1].tree


def test_a_parked_commit_that_fits_nowhere_is_kept_as_it_was(target, campaign):
    chain = campaign.chain({"a.py": "x\n"}, {"a.py": "y\n"})

    settled = campaign.settle(chain, (), chain.commits)

    assert settled.parked[1].sha == chain.commits[1].sha
    assert target.git("rev-parse", f"{settled.parked[1].ref}^{{tree}}") == chain.commits[1].tree


def test_many_parked_commits_are_each_on_the_tip(target, campaign):
    chain = campaign.chain(*({f"n{n}": "x"} for n in range(8)))

    settled = campaign.settle(
        chain, chain.commits[:2], chain.commits[2:5], {c.sha: "scope" for c in chain.commits[5:]}
    )

    assert len(settled.parked) == 6
    for parked in settled.parked:
        assert target.git("rev-parse", f"{parked.sha}^") == settled.tip
        assert target.changed(parked.sha) == {parked.site.removesuffix(":1")}
    assert len([ref for ref in target.refs if "/parked/" in ref]) == 6


def test_only_parked_commits_move_no_branch(target, campaign):
    chain = campaign.chain({"a.py": "x\n"})

    settled = campaign.settle(chain, (), chain.commits)

    assert BRANCH not in target.refs
    assert settled.tip == target.head
    assert state_of(target).tip == ""


def test_nothing_decided_writes_nothing(target, campaign):
    chain = campaign.chain({"a.py": "x\n"})

    assert campaign.settle(chain, ()).tip == target.head
    assert list(target.refs) == ["refs/heads/main"]


def test_a_change_that_only_adds_files_lands(target, campaign):
    """F13."""
    campaign.land({"new/one.py": "1\n", "new/two.py": "2\n"})

    assert target.changed(BRANCH) == {"new/one.py", "new/two.py"}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"x = 1\r\ny = 2\r\nz = 3", b"x = 1\r\ny = 7\r\nz = 3"),
        (b"# caf\xe9 \xff\nx = 1\n", b"# caf\xe9 \xff\nx = 2\n"),
        (b"\xef\xbb\xbfx = 1\r\n", b"\xef\xbb\xbfx = 2\r\n"),
    ],
    ids=["F1 windows line ends", "F2 latin-1", "a byte order mark"],
)
def test_bytes_land_as_they_were_written(target, open_campaign, before, after):
    target.commit(
        {"x.py": before, ".gitattributes": "* text=auto eol=lf\n"}
        if b"\r" not in before
        else {"x.py": before}
    )
    campaign = open_campaign(target)

    campaign.land({"x.py": after})

    assert target.tree(BRANCH)["x.py"] == ("100644", after)
    assert target.git("diff", "--numstat", "main", BRANCH).split()[:2] == ["1", "1"]


def test_a_mode_stays_through_merging_and_landing(target, open_campaign):
    """F3."""
    (target.folder / "run.sh").write_text("".join(f"line {n}\n" for n in range(30)))
    (target.folder / "run.sh").chmod(0o755)
    target.commit({})
    campaign = open_campaign(target)
    text = target.tree("HEAD")["run.sh"][1].decode()
    chain = campaign.chain(
        {"run.sh": text.replace("line 2\n", "x\n")},
        {"run.sh": text.replace("line 2\n", "x\n").replace("line 25", "y")},
    )

    campaign.settle(chain, chain.commits[1:], chain.commits[:1])

    assert target.tree(BRANCH)["run.sh"] == ("100755", text.replace("line 25", "y").encode())


def test_hostile_names_land_as_exactly_those_paths(target, campaign):
    """F9: from the chain to the branch, byte for byte; state and refs survive them."""
    chain = campaign.chain(*({name: f"{n}\n".encode() + b"\xff"} for n, name in enumerate(HOSTILE)))

    campaign.settle(chain, chain.commits[:-2], chain.commits[-2:])

    commits = landed(target)
    assert [target.changed(sha) for sha in commits] == [{name} for name in HOSTILE[:-2]]
    for number, name in enumerate(HOSTILE[:-2]):
        assert target.tree(BRANCH)[name] == ("100644", f"{number}\n".encode() + b"\xff")
    state = state_of(target)
    assert [commit.site for commit in state.landed] == [f"{name}:1" for name in HOSTILE[:-2]]
    assert [parked.site for parked in state.parked] == [f"{name}:1" for name in HOSTILE[-2:]]
    assert target.git("fsck", "--strict", "--no-dangling") == ""


MESSAGES = {
    "nul": "Fix\0 it",
    "ansi": "\x1b[31mFix\x1b[0m it\x07",
    "a megabyte": "Fix it\n\n" + "x" * 1_000_000,
    "an option": "--amend",
    "forged": "Fix it\n\nbody\n\nSigned-off-by: Linus <l@example.com>\nReviewed-by:x",
    "divider": "Fix it\n\nReviewed-by: x\n---\nmore",
    "skip": "Fix it [skip ci]\n\n[ci skip] ***NO_CI*** closes #1, fixes owner/repo#2",
    "bidi": "Fix \u202eti\u202c",
    "empty": "",
    "blank": "\n\n  \n",
    "surrogate": "Fix \udcff",
}


@pytest.mark.parametrize("message", MESSAGES.values(), ids=MESSAGES)
def test_a_hostile_message_makes_a_clean_commit(target, campaign, message):
    """F10, G20, G21."""
    campaign.land({"a.py": "2\n"}, message=message)

    told = target.raw("log", "-1", "--format=%B", BRANCH).decode()
    (tmp := target.folder.parent / "message").write_text(told)
    trailers = target.git("interpret-trailers", "--parse", str(tmp)).splitlines()
    assert {line.split(":")[0] for line in trailers} == {
        "Swathe-Axis", "Swathe-Site", "Swathe-Run", "Swathe-Executor", "Swathe-Gate", "Swathe-Sandbox", "Swathe-Cost-USD",
    }  # fmt: skip
    assert all(char.isprintable() or char == "\n" for char in told)
    assert len(told) < 6_000
    assert "[skip ci]" not in told
    assert "closes #1" not in told
    assert told.split("\n", 1)[0].strip()


@pytest.mark.parametrize(
    "title",
    ['Say "hello" & goodbye', "fix: one: two", "-x first", "it's $(here) `now`", "Use list"],
)
def test_a_title_survives_its_quotes_colons_and_dashes(target, campaign, title):
    """T47."""
    settled = campaign.land({"a.py": "2\n"}, message=f"{title}\nsecond line\n")

    subject, body = target.git("log", "-1", "--format=%s%n%b", BRANCH).split("\n", 1)
    assert subject == settled.landed[0].subject == title.lstrip("-")
    assert body.startswith("second line")


def test_names_of_files_do_not_act_in_trailers(target, campaign):
    campaign.land({"[skip ci] closes #1.py": "x\n"})

    told = target.git("log", "-1", "--format=%B", BRANCH)
    assert "[skip ci]" not in told
    assert "closes #1" not in told


def test_the_operators_files_index_and_lock_are_left_alone(target, campaign):
    """F4: modified, staged and untracked files and a foreign `index.lock`."""
    target.write({"a.py": "modified\n", "staged.py": "s\n", "untracked.py": "u\n"})
    target.git("add", "staged.py")
    (target.folder / ".git" / "index.lock").write_text("foreign")
    before = target.snapshot()

    move_agent(campaign.workspace, target.head)
    move_gate(campaign.workspace, target.head)
    campaign.land({"pkg/b.py": "3\n"})

    assert target.snapshot() == before
    assert target.changed(BRANCH) == {"pkg/b.py"}


def test_an_ignored_path_and_one_that_is_not_both_land(target, open_campaign):
    """T49."""
    (target.folder / "build").mkdir()
    (target.folder / "build" / "kept.py").write_text("1\n")
    target.write({".gitignore": "build/\n"})
    target.git("add", "-f", "build/kept.py", ".gitignore")
    target.git("commit", "-q", "-m", "x")
    campaign = open_campaign(target)

    campaign.land({"build/kept.py": "2\n", "a.py": "2\n"})

    assert target.changed(BRANCH) == {"build/kept.py", "a.py"}


def test_what_the_gate_or_the_agent_left_behind_is_in_no_commit(target, campaign):
    """F12, V12."""
    chain = campaign.chain({"a.py": "2\n"})
    for folder in (campaign.agent, campaign.gate):
        (folder / "build").mkdir(parents=True)
        (folder / "build" / "x.log").write_text("x")
        (folder / ".env").write_text("SECRET=1")

    campaign.settle(chain, chain.commits)

    assert set(target.tree(BRANCH)) == set(target.tree("HEAD"))
    move_gate(campaign.workspace, chain.commits[0].sha)
    assert not (campaign.gate / ".env").exists()


def test_hooks_and_drivers_planted_everywhere_stay_silent(target, campaign, tmp_path):
    """F5, S5: in the target, and in both checkouts of ours."""
    target.plant(target.folder / ".git", tmp_path / "canary")
    chain = campaign.chain(
        {"a.py": "2\n", ".gitattributes": "* filter=x diff=x merge=x\n"}, {"pkg/b.py": "3\n"}
    )
    move_gate(campaign.workspace, chain.base)
    for folder in (campaign.agent, campaign.gate):
        Repo(folder, init=False).plant(folder / ".git", tmp_path / "canary")

    campaign.settle(chain, chain.commits[:1], chain.commits[1:])
    move_gate(campaign.workspace, chain.commits[0].sha)
    move_agent(campaign.workspace, chain.commits[0].sha)

    assert len(state_of(target).landed) == 1
    assert fired(tmp_path / "canary") == []


def test_a_branch_somebody_moved_meanwhile_keeps_their_commit(target, campaign):
    """R5: no forced move, no lost commit."""
    chain = campaign.chain({"a.py": "2\n"}, {"pkg/b.py": "3\n"})
    campaign.settle(chain, chain.commits[:1])
    theirs = target.git("commit-tree", f"{BRANCH}^{{tree}}", "-p", BRANCH, "-m", "theirs")
    target.git("update-ref", BRANCH, theirs)

    with pytest.raises(Moved):
        campaign.settle(chain, chain.commits)

    assert target.refs[BRANCH] == theirs
    assert len(state_of(target).landed) == 1


def test_landing_on_a_branch_that_was_checked_out_meanwhile_is_refused(target, campaign):
    """T51."""
    chain = campaign.chain({"a.py": "2\n"}, {"pkg/b.py": "3\n"})
    campaign.settle(chain, chain.commits[:1])
    target.git("checkout", "-q", "swathe/ruff-up")
    before = target.refs

    with pytest.raises(Exception, match="is checked out"):
        campaign.settle(chain, chain.commits)
    assert target.refs == before


def test_the_branch_is_only_ever_added_to(target, campaign, open_campaign):
    """T55: across passes and runs."""
    tips = [campaign.land({"a.py": "2\n"}).tip]
    tips.append(campaign.land({"a.py": "3\n"}, base=tips[-1]).tip)
    campaign.end()
    later = open_campaign(target, run="r2")
    tips.append(later.land({"a.py": "4\n"}, base=later.recover().tip).tip)

    assert landed(target) == tips


def test_a_linked_worktree_is_a_target_like_another(target, open_campaign, tmp_path):
    """F7."""
    target.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "linked"))
    linked = Repo(tmp_path / "linked", init=False)
    linked.commit({"a.py": "side\n"})
    before = linked.snapshot()

    open_campaign(linked).land({"pkg/b.py": "3\n"})

    assert target.tree(BRANCH)["a.py"][1] == b"side\n"
    assert linked.snapshot() == before


def test_the_state_alone_is_saved_and_adds_to_its_history(target, campaign):
    campaign.land({"a.py": "2\n"})
    state = state_of(target).model_copy(update={"passes": 3})

    save(campaign.workspace, state, "end: complete", 1_700_000_100)

    assert state_of(target) == state
    assert target.git("log", "--format=%s", STATE).splitlines() == [
        "end: complete",
        "land 1, park 0",
    ]


def test_states_can_be_compared_line_by_line(target, campaign):
    """Its history is the audit log."""
    campaign.land({"a.py": "2\n"})
    campaign.land({"a.py": "3\n"}, base=target.refs[BRANCH])

    added = [
        row for row in target.git("diff", f"{STATE}^", STATE).splitlines() if row.startswith("+ ")
    ]

    assert len(added) <= 5


def test_a_large_pass_lands(target, campaign):
    chain = campaign.chain(*({f"d{n % 7}/f{n}.py": f"{n}\n"} for n in range(300)))

    campaign.settle(chain, chain.commits)

    assert len(landed(target)) == 300
    assert target.git("rev-parse", f"{BRANCH}^{{tree}}") == chain.commits[-1].tree


def test_only_ours_is_left_in_the_target(target, campaign):
    """T50: no worktree, no lock, no file."""
    campaign.land({"a.py": "2\n"})

    assert target.git("status", "--porcelain") == ""
    assert not list((target.folder / ".git").rglob("*.lock"))
    assert not (target.folder / ".git/worktrees").exists()
    assert {ref for ref in target.refs if ref != "refs/heads/main"} == {BRANCH, STATE}
    assert Path(os.environ["SWATHE_HOME"]) not in target.folder.parents


def test_the_landed_branch_merges_home(target, campaign):
    campaign.land({"a.py": "2\n"})

    target.git("merge", "-q", "--ff-only", "swathe/ruff-up")

    assert target.tree("HEAD")["a.py"][1] == b"2\n"


def test_a_refused_commit_with_a_folder_of_git_never_reaches_us(campaign):
    with pytest.raises(Exception, match="index-pack"):
        campaign.chain({".git/config": "x"})


def test_the_reason_is_the_one_who_refuses_not_the_one_who_was_writing_to_it(campaign):
    """More than a pipe holds, so that the writer is still at it when the reader has seen enough."""
    noise = random.Random(0)
    files = {f"n{n}.bin": noise.randbytes(60_000) for n in range(20)}

    with pytest.raises(Exception, match="index-pack"):
        campaign.chain({".git/config": "x", **files})


def test_an_outcome_names_only_commits_of_its_pass(campaign):
    chain = campaign.chain({"a.py": "2\n"})

    with pytest.raises(KeyError):
        campaign.settle(chain, [chain.commits[0].model_copy(update={"sha": "f" * 40})])
    assert Outcome().good == ()


def test_cherry_picking_a_commit_kept_as_it_was_is_the_operators_merge(target, campaign):
    chain = campaign.chain({"a.py": "x\n"}, {"a.py": "y\n"})
    settled = campaign.settle(chain, (), chain.commits)

    target.git("cherry-pick", settled.parked[0].sha)
    with pytest.raises(GitCommandError):
        target.git("cherry-pick", settled.parked[0].sha)


def test_no_secret_comes_in_under_a_parked_commit_that_fits_on_no_tip(target, campaign):
    """S6: the secret is taken out again by a commit that is parked as it was made, parents and all."""
    secret = "cAnary-1f2e3d4c5b6a7z8y"
    os.environ["BACKUP_TOKEN"] = secret
    chain = campaign.chain({"a.py": f"{secret}\n"}, {"a.py": "gone\n", "pkg/b.py": "2\n"})
    leaks, taken = chain.commits
    assert (bool(leaks.leaks), taken.leaks) == (True, ())

    settled = settle(
        campaign.workspace,
        chain,
        Outcome(refused={leaks.sha: "new secret", taken.sha: "protected"}),
        Signature(axis="ruff:UP", executor="claude"),
        State(axis="ruff:UP", base=campaign.workspace.base),
    )

    form = "--batch-check=%(objectname)"
    names = target.git("cat-file", "--batch-all-objects", form).split()
    assert not any(secret.encode() in target.raw("cat-file", "-p", name) for name in names)
    assert [(parked.ref, parked.sha) for parked in settled.parked] == [("", "")] * 2


def test_a_parked_commit_that_fits_on_no_tip_is_kept_as_it_was_made(target, campaign):
    """The other side: without a secret below it, it is all there is of the work."""
    chain = campaign.chain({"a.py": "first\n"}, {"a.py": "second\n"})

    settled = settle(
        campaign.workspace,
        chain,
        Outcome(refused={commit.sha: "protected" for commit in chain.commits}),
        Signature(axis="ruff:UP", executor="claude"),
        State(axis="ruff:UP", base=campaign.workspace.base),
    )

    assert settled.parked[1].sha == chain.commits[1].sha
    assert target.git("show", f"{settled.parked[1].ref}:a.py") == "second"
