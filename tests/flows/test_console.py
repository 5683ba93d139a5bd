"""The real console script, as a person and as a program meets it."""

import json

import pytest
from harness import breaks

from domain.report import Report

pytestmark = pytest.mark.flow

CODES = {
    "complete": (0, {}),
    "red": (1, {"m1": breaks(1), "m2": breaks(2)}),
}


@pytest.mark.parametrize("ending", CODES)
def test_the_exit_code_says_how_it_ended_and_a_person_is_told_how_to_take_the_work(make, ending):
    """T71: on the terminal."""
    repo = make(2)
    code, edits = CODES[ending]
    for name, script in edits.items():
        repo.edits(name, script)

    done = repo.swathe("run", *repo.words(), env={"COLUMNS": "200"})

    assert done.exit_code == code, done.errors
    assert f"{ending}:" in done.output
    if ending != "red":
        branch = repo.branch.removeprefix("refs/heads/")
        assert branch in done.output
        assert repo.log()[-1][:12] in done.output
        assert f"git -C {repo.folder} merge" in done.output
    assert "/runs/flow-run/" in done.output or "/flow-runs/flow-run/" in done.output
    assert len(repo.state().parked) == len(edits)


def test_json_is_the_last_line_of_stdout_and_progress_is_not_on_it(make):
    repo = make(3)
    repo.edits("m2", breaks(2))

    done = repo.swathe("run", *repo.words(), "--json")

    *rest, last = done.output.splitlines()
    report = Report.from_json(last)
    assert rest == []
    assert done.exit_code == 3
    assert report.ending == "exhausted"
    assert json.loads(last)["landed"][0]["verified"] == "batch of 2"
    assert "landed 2 commits" in done.errors


def test_a_project_prefect_file_of_the_target_is_not_read(make):
    """The run starts in the target, which has settings of its own for Prefect."""
    repo = make(
        1,
        {
            "prefect.toml": "[api]\nurl = 'http://127.0.0.1:9/api'\n",
            ".env": "PREFECT_API_URL=http://127.0.0.1:9/api\n",
        },
    )

    done = repo.swathe("run", ".", *repo.words()[1:], "--json", cwd=repo.folder)

    assert done.exit_code == 0, done.errors
    assert len(repo.log()) == 1
