"""Why a run stops, and what it says then (design.md §6)."""

import time
from pathlib import Path

import pytest
from harness import CHECKS, WAIT, breaks, campaign, exit_code, forked, sh, wait_for

from domain.value import Refused

pytestmark = pytest.mark.flow


def test_the_same_failing_edit_is_not_tried_for_ever(make):
    """R3: a commit that is red is parked; an edit that does nothing is tried in two passes."""
    repo = make(3)
    repo.edits("m1", breaks(1))
    repo.edits("m2", "exit 3\n")

    report = repo.run()

    assert report.ending == "stalled"
    tried = (repo.tools / "edited").read_text().split()
    assert tried.count("m1") == 1
    assert tried.count("m2") == 3, "in the pass that landed something, and in two that did not"
    assert [commit.site for commit in report.landed] == ["m3.py:1"]
    assert [parked.site for parked in report.parked] == ["m1.py:1"]


def test_parked_sites_stay_parked_until_they_are_asked_for(make):
    """R3, and `--retry`."""
    repo = make(2)
    repo.edits("m1", breaks(1))
    assert repo.run().ending == "exhausted"
    assert repo.run().ending == "nothing-to-do"
    (repo.tools / "edit-m1").unlink()

    report = repo.run(retry=True)

    assert report.ending == "complete"
    assert [commit.site for commit in report.landed] == ["m1.py:1"]


def test_two_passes_are_two_passes(make):
    """R8, T17."""
    repo = make(2)
    repo.edits("m1", "exit 3\n")

    report = repo.run(budget={"max_passes": 2})

    assert (report.ending, report.exit_code, report.passes) == ("passes", 3, 2)
    assert (repo.tools / "edited").read_text().split().count("m1") == 2
    assert [event["pass"] for event in repo.events(report) if event["event"] == "executed"] == [
        1,
        2,
    ]


def test_only_red_work_is_red(make):
    repo = make(2)
    repo.edits("m1", breaks(1))
    repo.edits("m2", breaks(2))

    report = repo.run()

    assert (report.ending, report.exit_code) == ("red", 1)
    assert repo.branches == []
    assert len(report.parked) == 2


def test_enough_said_in_mid_pass_lands_what_the_pass_has_made(make):
    """R10: said by the real command, from inside the gate."""
    repo = make(3)
    repo.edits("m1", "exit 3\n")
    repo.gate(f'[ "$call" != 3 ] || {repo.typing("enough")}\n{CHECKS}')

    report = repo.run(verify_each=True)

    assert (report.ending, report.exit_code) == ("enough", 3)
    assert [commit.site for commit in report.landed] == ["m2.py:1", "m3.py:1"]
    assert report.passes == 1
    assert repo.run(budget={"max_passes": 1}).ending != "enough", "it was said to the first run"


def test_enough_said_to_a_run_that_was_killed_does_not_stop_the_next(make):
    repo = make(2)
    repo.gate(
        f'[ "$call" != 3 ] || {{ {repo.typing("enough")}; kill -9 "$engine"; sleep 60; }}\n{CHECKS}'
    )
    assert exit_code(forked(campaign, repo.options())) == -9
    assert list(repo.home.glob("targets/*/words-*")), "the word is left"

    assert repo.run().ending == "complete"


def test_a_second_run_on_one_target_is_busy_at_once_and_changes_nothing(make):
    """R4: in process, and as a person gets it: exit code 75."""
    repo = make(2)
    repo.gate(WAIT + CHECKS)
    first = forked(campaign, repo.options())
    wait_for(repo.tools / "inside")
    before = repo.refs
    begun = time.monotonic()

    second = repo.run()
    typed, told = repo.typed()

    assert first.is_alive(), "nobody waited for the first run"
    assert time.monotonic() - begun < 30
    assert (second.ending, second.exit_code) == ("busy", 75)
    assert f"process {first.pid}" in second.why
    assert (typed.exit_code, told.ending) == (75, "busy")
    assert repo.refs == before
    assert repo.counted("calls") == 1
    (repo.tools / "go").touch()
    assert exit_code(first) == 0
    assert len(repo.log()) == 2
    assert repo.run().ending == "nothing-to-do"


def test_another_axis_on_the_same_target_waits_its_turn_too(make):
    """R4: one run per target."""
    repo = make(2)
    repo.gate(WAIT + CHECKS)
    first = forked(campaign, repo.options())
    wait_for(repo.tools / "inside")

    assert repo.run(axis="ruff:UP004").ending == "busy"

    (repo.tools / "go").touch()
    assert exit_code(first) == 0


def test_status_shows_a_run_that_works_and_how_long_it_was_quiet(make):
    """T69: asked from inside the gate of the second commit."""
    from cli import standing  # noqa: PLC0415
    from domain.status import RepoStatus  # noqa: PLC0415

    repo = make(2)
    repo.gate(f'[ "$call" != 4 ] || {repo.typing("status", "--json")}\n{CHECKS}')
    repo.run(verify_each=True)

    text = (repo.tools / "status").read_text().rstrip().rsplit("\n", 1)[-1]
    (shown,) = RepoStatus.from_json(text).campaigns
    assert (shown.running, shown.landed) == (True, 1)
    assert shown.minutes_since_last_commit is not None
    (after,) = standing.status(str(repo.folder), None).campaigns
    assert (after.running, after.landed, after.ending) == (False, 2, "complete")


ENDINGS = {
    "complete": ({}, {}),
    "exhausted": ({"m1": breaks(1)}, {}),
    "stalled": ({"m1": "exit 3\n"}, {}),
    "passes": ({"m1": "exit 3\n"}, {"budget": {"max_passes": 1}}),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_whatever_the_ending_the_branch_the_tip_and_how_to_take_it_are_said(make, ending):
    """T71: in the report, and in what a person reads."""
    from domain.summary import markdown  # noqa: PLC0415

    repo = make(2)
    edits, asked = ENDINGS[ending]
    for name, script in edits.items():
        repo.edits(name, script)

    report = repo.run(**asked)

    assert report.ending == ending
    assert repo.refs[f"refs/heads/{report.branch}"] == report.tip
    for said in (report.branch, report.tip[:7], report.take):
        assert said in markdown(report)
    assert sh(report.take, repo.folder).ok
    assert repo.git("merge-base", "--is-ancestor", report.tip, "main") == ""


def test_a_dry_run_changes_nothing_anywhere(make):
    from cli import engine  # noqa: PLC0415

    repo = make(2)
    repo.run(paths=("m1.py",))
    before, state = repo.files(), repo.refs

    plan = engine.plan(repo.options(dry_run=True))

    assert [site.place for site in plan.sites] == ["m2.py:1"]
    assert (repo.files(), repo.refs) == (before, state)
    assert repo.run().ending == "complete"


REFUSED_TARGETS = {
    "no commit yet": "git init -q -b main",
    "bare repository": "git init -q --bare",
    "not a git repository": "true",
    "does not trust": "git init -q; git commit -q --allow-empty -m x; chown -R 12345 .",
}


@pytest.mark.parametrize("said", REFUSED_TARGETS)
def test_what_cannot_be_worked_on_is_refused_and_nothing_is_written(make, tmp_path: Path, said):
    """F8."""
    repo = make(1, name="good")
    folder = tmp_path / "bad"
    folder.mkdir()
    assert sh(REFUSED_TARGETS[said], folder).ok
    before = sorted(str(path) for path in folder.rglob("*"))

    with pytest.raises(Refused, match=said):
        repo.run(repo=str(folder))

    assert sorted(str(path) for path in folder.rglob("*")) == before
    assert not list(repo.home.glob("targets/*"))
    assert repo.run().ending == "complete"


def test_a_scope_that_matches_nothing_is_refused_with_exit_code_2(make):
    """R11, T07: as a person gets it, and as a program does."""
    repo = make(1)

    done, report = repo.typed("--paths", "src/**")

    assert done.exit_code == 2
    assert report.ending == "refused"
    assert "matches 'src/**'" in report.why
    assert "src/**" in done.errors
    assert repo.counted("edited") == 0
    assert repo.run(paths=("m*.py",)).ending == "complete"


def test_a_refusal_inside_the_flow_reaches_the_person_with_what_has_landed(make):
    """T71: after the first commit somebody checks the landing branch out."""
    repo = make(3)
    stand = f'git -C "{repo.folder}" worktree add -q ../standing $(git -C "{repo.folder}" for-each-ref --format="%(refname:short)" refs/heads/swathe)'
    repo.gate(f'[ "$call" != 4 ] || {stand}\n{CHECKS}')

    report = repo.run(verify_each=True)

    assert (report.ending, report.exit_code) == ("refused", 2)
    assert "is checked out in" in report.why
    assert [commit.site for commit in report.landed] == ["m1.py:1"]
    assert report.tip == repo.log()[-1]
    assert report.take
    repo.git("worktree", "remove", "--force", "../standing")
    assert repo.run().ending == "complete"


def test_hooks_of_the_target_are_never_run(make):
    """F5, T52."""
    repo = make(1)
    for name in ("pre-commit", "commit-msg", "post-commit", "pre-receive", "update", "post-update",
                 "reference-transaction", "post-checkout"):  # fmt: skip
        hook = repo.folder / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f'#!/bin/sh\necho {name} >> "{repo.tools}/hooks"\nexit 1\n')
        hook.chmod(0o755)

    assert repo.run().ending == "complete"

    assert repo.counted("hooks") == 0
    assert not sh("git commit -q --allow-empty -m x", repo.folder).ok, (
        "they do run for the operator"
    )
