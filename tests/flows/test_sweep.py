"""ADR-057 end to end: a work-list, several jobs, one queue."""

import pytest
from harness import CHECKS, COMPILES, breaks

pytestmark = pytest.mark.flow


@pytest.mark.parametrize("jobs", [1, 3])
def test_every_item_lands_as_a_commit_of_its_own(make, jobs):
    repo = make(6)

    report = repo.sweep(jobs=jobs)

    assert (report.ending, report.items) == ("complete", {"landed": 6}), report.why
    assert len(repo.log()) == 6
    assert [repo.landed(f"m{n}.py") for n in range(1, 7)] == [
        f"VALUE = {n}  # DONE:m{n}" for n in range(1, 7)
    ]
    second = repo.sweep(jobs=jobs)
    assert (second.ending, len(second.landed)) == ("nothing-to-do", 0)


def test_what_the_gate_is_red_on_is_parked_and_named(make):
    repo = make(5)
    repo.edits("m3", breaks(3))

    report = repo.sweep(jobs=2)

    assert (report.ending, report.items) == ("exhausted", {"landed": 4, "parked": 1}), report.why
    assert [parked.site for parked in report.parked] == ["m3.py:1"]
    assert [left.why for left in report.remaining] == ["parked"]
    (item,) = [item for item in repo.state().worklist.items if item.ended == "parked"]
    assert (item.place, item.why, item.attempts) == ("m3.py:1", "red", 1)


def test_sites_of_one_file_are_items_of_one_job(make):
    """F14: an item's edit moves the next one's lines; both land, each as a commit of its own."""
    text = "".join(f"VALUE_{n} = {n}  # SITE:s{n}\n\n\n" for n in range(5))
    repo = make(2, {"many.py": text})

    report = repo.sweep(jobs=2)

    assert (report.ending, report.items) == ("complete", {"landed": 7}), report.why
    assert "SITE" not in repo.landed("many.py")
    assert len(repo.log()) == 7


def test_what_fits_on_the_tip_no_more_is_made_anew(make):
    """Two items that touch one file although they lie in two: the second is made again, on what the first landed."""
    repo = make(2, {"shared.txt": "0\n"})
    for n in (1, 2):
        repo.edits(
            f"m{n}",
            f'echo {n} >> shared.txt\nsed -i "s/SITE:/DONE:/" "$SWATHE_PATH"\n',
        )

    report = repo.sweep(jobs=2)

    assert (report.ending, report.items) == ("complete", {"landed": 2}), report.why
    assert sorted(repo.landed("shared.txt").split()) == ["0", "1", "2"]
    turns = sorted(item.turns for item in repo.state().worklist.items)
    assert turns == [1, 2]


def test_a_run_takes_as_many_items_as_it_is_allowed_and_the_next_goes_on(make):
    repo = make(5)

    first = repo.sweep(max_items=2)
    second = repo.sweep(max_items=9)

    assert (first.ending, len(first.landed), first.items) == (
        "budget",
        2,
        {"landed": 2, "open": 3},
    ), first.why
    assert (second.ending, len(second.landed)) == ("complete", 3), second.why


def test_what_the_operator_takes_back_is_declined(make):
    """R7."""
    repo = make(3)
    repo.sweep()
    repo.git("checkout", "-q", repo.branch.removeprefix("refs/heads/"))
    repo.git("revert", "--no-edit", "HEAD")
    repo.git("checkout", "-q", "main")

    report = repo.sweep()

    assert (report.ending, len(report.landed)) == ("nothing-to-do", 0), report.why
    assert len(report.declined) == 1


def test_a_person_reorders_the_list_and_strikes_items(make):
    """What is struck is declined for good; ids are known by their beginning."""
    repo = make(4)
    repo.sweep(max_items=1)
    ids = {item.place: item.id for item in repo.state().worklist.items}
    last, struck = ids["m4.py:1"], ids["m2.py:1"]

    shown = repo.swathe("list", str(repo.folder), "--first", last[:10], "--strike", struck)
    refused = repo.swathe("list", str(repo.folder), "--strike", "nosuch")
    added = repo.swathe("list", str(repo.folder), "--add", "m1.py:1", "--change", "do it")
    one = repo.sweep(max_items=1)
    rest = repo.sweep()

    assert shown.exit_code == 0, shown.errors
    assert [row.split()[1] for row in shown.output.splitlines()[1:]] == ["m4.py:1", "m3.py:1"]
    assert (refused.exit_code, added.exit_code) == (2, 2)
    assert "no item is called 'nosuch'" in refused.errors
    assert "finds its own sites" in added.errors
    assert [commit.site for commit in one.landed] == ["m4.py:1"]
    assert (rest.ending, rest.items) == ("exhausted", {"landed": 3, "declined": 1}), rest.why
    assert repo.landed("m2.py") == "VALUE = 2  # SITE:m2"


def test_without_a_list_there_is_nothing_to_show(make):
    done = make(1).swathe("list", str(make(1, name="other").folder))

    assert done.exit_code == 2
    assert "`swathe sweep" in done.errors


def test_what_landed_is_grouped_on_a_second_branch_and_the_first_stays(make):
    repo = make(3, {f"p/q{n}.py": f"X = {n}  # SITE:q{n}\n" for n in range(3)})
    repo.sweep()
    first, landed = repo.branch, repo.log()

    done = repo.swathe("curate", str(repo.folder), "--by", "directory")
    again = repo.swathe("curate", str(repo.folder), "--by", "directory")
    nothing = repo.swathe("curate", str(make(1, name="other").folder))

    second = f"{first}-by-directory"
    assert (done.exit_code, again.exit_code, nothing.exit_code) == (0, 0, 2), done.errors
    assert repo.git("rev-parse", f"{second}^{{tree}}") == repo.git("rev-parse", f"{first}^{{tree}}")
    assert repo.git("rev-list", "--count", f"main..{second}") == "2"
    assert repo.git("log", "--reverse", "--format=%H", f"main..{first}").splitlines() == landed
    assert repo.git("status", "--porcelain") == ""


def test_findings_that_lie_so_close_that_a_rule_does_them_in_turns_all_land(make):
    """Names of one import, and imports line by line: an edit of one is in the way of the next, until it has landed."""
    names = "".join(f"from os import path as p{n}, sep as s{n}\n" for n in range(12))
    repo = make(0, {"many.py": f"{names}\nVALUE = 1\n"})
    repo.verify = (COMPILES,)

    report = repo.sweep(axis="ruff:F401", jobs=2)

    assert report.ending == "complete", report.why
    assert repo.landed("many.py").strip() == "VALUE = 1"
    assert "parked" not in report.items


def test_the_list_is_a_form_and_a_table_in_the_ui(make, client):
    from prefect.client.schemas.filters import (  # noqa: PLC0415 -- the server is known by now
        ArtifactFilter,
        ArtifactFilterFlowRunId,
    )

    from domain.list_change import ListChange  # noqa: PLC0415
    from flows.work_list import work_list  # noqa: PLC0415

    repo = make(3)
    repo.sweep(max_items=1)
    target = repo.options().target
    struck = next(item for item in repo.state().worklist.items if item.place == "m2.py:1")

    done = work_list(target=target, change=ListChange(strike=(struck.id,)), return_state=True)
    refused = work_list(target=target, change=ListChange(first=("nosuch",)), return_state=True)

    assert (done.name, done.message) == ("Listed", "1 declined, 1 landed, 1 open")
    assert refused.is_failed()
    assert "no item is called 'nosuch'" in refused.message
    mine = ArtifactFilter(
        flow_run_id=ArtifactFilterFlowRunId(any_=[done.state_details.flow_run_id])
    )
    (table,) = [one for one in client.read_artifacts(artifact_filter=mine) if one.type == "table"]
    assert "m3.py:1" in table.data
    assert "struck by the operator" in table.data


def test_enough_finishes_what_is_in_hand_and_begins_nothing_new(make):
    """R10."""
    repo = make(4)
    said = repo.typing("enough")
    repo.gate(f'[ "$call" != 3 ] || {said}\n{CHECKS}')

    report = repo.sweep(verify_each=True)
    rest = repo.sweep()

    assert (report.ending, report.items) == ("enough", {"landed": 1, "open": 3}), report.why
    assert (rest.ending, rest.items) == ("complete", {"landed": 4}), rest.why


def test_two_sweeps_of_one_repository_are_not_made_at_once(make):
    """R4."""
    repo = make(1)
    other = repo.typing("sweep", "--axis", "ruff:UP", "--json")
    repo.gate(f'[ "$call" != 1 ] || {{ {other}; echo $? > "{repo.tools}/code"; }}\n{CHECKS}')

    report = repo.sweep()

    assert report.ending == "complete", report.why
    assert (repo.tools / "code").read_text().strip() == "75"
