"""More than one machine: what they share is a remote and a Prefect server."""

import pytest
from harness import Repo
from machines import Machines

pytestmark = pytest.mark.flow


def test_a_run_that_one_machine_began_is_finished_by_another_with_an_empty_disk(make, post):
    """T65, T68, T104. The first machine is gone for good, in the midst of a gate."""
    machines = Machines.on_duty(make(2), post)
    first = machines.worker("a")
    run = machines.placed.start()
    engine = machines.in_mid_gate()
    landed = machines.landed
    assert len(landed) == 1

    machines.lose("a", first, engine)
    machines.go()
    machines.go_on(run)
    machines.worker("b")

    state = machines.placed.final_after_crash(run)
    assert state.name == "Complete", state.message
    assert machines.landed[:1] == landed
    assert len(machines.landed) == 2
    assert not any(ref.startswith("refs/swathe-lease") for ref in machines.refs)
    assert not machines.home("a").exists()


def test_a_run_whose_push_is_refused_ends_as_it_ends_and_the_next_one_pushes(make, tmp_path):
    """T74."""
    repo = make(1)
    repo.git("clone", "-q", "--bare", str(repo.folder), str(tmp_path / "remote.git"))
    remote = Repo.of(tmp_path / "remote.git")
    hook = remote.folder / "hooks" / "update"
    hook.write_text(
        '#!/bin/sh\ncase $1 in refs/heads/*) echo "branches are protected"; exit 1;; esac\n'
    )
    hook.chmod(0o755)

    report = repo.run(share=str(remote.folder))

    assert report.ending == "complete"
    assert len(report.landed) == 1
    assert report.delivery is not None
    assert report.delivery.missing
    assert "branches are protected" in report.delivery.why
    assert any(report.delivery.command in note for note in report.notes)
    assert report.delivery.command in repo.swathe("status", str(repo.folder)).output
    assert remote.branches == []

    hook.unlink()
    again = repo.run(share=str(remote.folder))

    assert again.ending == "nothing-to-do"
    assert again.delivery is not None
    assert not again.delivery.missing
    assert remote.log() == repo.log()
    assert report.delivery.command not in repo.swathe("status", str(repo.folder)).output
