"""More than one machine: what they share is a remote and a Prefect server."""

import pytest
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
