"""A campaign carried by a vendor's own agent: the real programs, the real gate, real Prefect, and a scripted model."""

import os
import signal
from pathlib import Path

import pytest
from agents_at_work import EXECUTORS, finish, missing, shell
from harness import campaign, ended, exit_code, forked
from stub_script import Call, Turn, turns

from adapters.processes.sandbox import available

FAMILIES = [
    pytest.param(name, marks=pytest.mark.skipif(bool(missing(name)), reason=missing(name)))
    for name in ("claude", "gpt")
]
pytestmark = [
    pytest.mark.flow,
    pytest.mark.skipif(not available().works, reason=f"needs a sandbox: {available().why}"),
]

AXIS = "count from zero in every module"
CHECKS = 'grep -q "^one$" keep.txt && ! grep -rq "broken" --include=*.txt .\n'
FILES = {"keep.txt": "one\n", "a.txt": "one\n", "b.txt": "one\n", "checks/test_a.py": "def test_a(): pass\n"}  # fmt: skip
NOTHING = Turn(calls=(Call("submit_sites", {"sites": []}),))


def save(family, path, text, message):
    return shell(family, f"printf '{text}\\n' > {path} && git add -A && git commit -qm '{message}'")


def working(said):
    """The script for the agent; a fresh look finds nothing."""

    def script(seen):
        return NOTHING if "PHASE: rescan" in seen.user else turns(said)(seen)

    return script


@pytest.mark.parametrize("family", FAMILIES)
def test_it_lands_what_the_gate_finds_green_and_none_of_its_claims(make, serve, family):
    provider = serve(
        working(
            [
                save(family, "a.txt", "zero", "Count a from zero"),
                save(family, "b.txt", "broken", "Count b from zero"),
                save(family, "checks/test_a.py", "", "Empty a test"),
                finish(family, note="landed 13, all tests pass"),
            ]
        )
    )
    repo = make(0, FILES)
    repo.gate(CHECKS)
    hired = {"family": family, "agent": "vendor"}

    report = repo.run(axis=AXIS, hired=hired, sandbox="required")

    assert (report.ending, report.passes) == ("complete", 1), report.why
    assert repo.log("%s") == ["Count a from zero"]
    form = "%(trailers:key=Swathe-Executor,valueonly,separator=)"
    assert repo.log(form) == [EXECUTORS[family]]
    assert sorted(parked.reason.split(":")[0] for parked in report.parked) == [
        "protected tests",
        "red",
    ]
    assert 0 < report.spend_usd == pytest.approx(provider.bill.usd)
    assert repo.state().spend_usd == pytest.approx(report.spend_usd)
    # The fresh look is our own agent's, of the other family.
    looks = [request for request in provider.requests if b"PHASE: rescan" in request.raw]
    assert {request.family for request in looks} == {"gpt" if family == "claude" else "claude"}


@pytest.mark.parametrize("family", FAMILIES)
def test_the_command_line_hires_it(make, serve, family):
    serve(working([save(family, "a.txt", "zero", "Count a from zero"), finish(family)]))
    repo = make(0, FILES)
    repo.gate(CHECKS)
    repo.axis, repo.sandbox = AXIS, "required"

    done, report = repo.typed("--executor", EXECUTORS[family], "--max-usd", "5", "--effort", "low")

    assert done.exit_code == 0, done.output
    assert report.ending == "complete", report.why
    assert repo.log("%s") == ["Count a from zero"]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_lie_about_success_lands_nothing(make, serve, family):
    serve(working([Turn("Everything is done, and all tests pass."), finish(family)]))
    repo = make(0, FILES)
    repo.gate(CHECKS)

    report = repo.run(
        axis=AXIS,
        hired={"family": family, "agent": "vendor"},
        sandbox="required",
        budget={"max_passes": 1},
    )

    assert repo.log() == []
    assert report.landed == ()


@pytest.mark.parametrize("family", FAMILIES)
def test_the_budget_stops_it_with_what_has_landed(make, serve, family):
    more = [shell(family, f"echo {n}") for n in range(60)]
    provider = serve(working([save(family, "a.txt", "zero", "Count a from zero"), *more]))
    repo = make(0, FILES)
    repo.gate(CHECKS)

    report = repo.run(
        axis=AXIS,
        hired={"family": family, "agent": "vendor"},
        sandbox="required",
        budget={"max_usd": 0.08},
    )

    assert report.ending == "budget", report.why
    assert repo.log("%s") == ["Count a from zero"]
    assert report.spend_usd >= provider.bill.usd - 1e-9
    # To one call.
    assert report.spend_usd - max(row["usd"] for row in provider.bill.rows) < 0.08


@pytest.mark.parametrize("family", FAMILIES)
def test_a_run_that_is_killed_leaves_no_process_and_its_pass_begins_anew(make, serve, family):
    """T91, and the limit that is documented: what was paid stays counted, and what was not committed is done again."""
    killed = []

    def kill(seen):
        if not killed:
            killed.append(_agents())
            os.kill(run.pid, signal.SIGKILL)
        return save(family, "b.txt", "zero", "Count b from zero")

    provider = serve(
        working([save(family, "a.txt", "zero", "Count a from zero"), kill, finish(family)])
    )
    repo = make(0, FILES)
    repo.gate(CHECKS)
    options = repo.options(
        axis=AXIS, hired={"family": family, "agent": "vendor"}, sandbox="required"
    )
    run = forked(campaign, options)
    assert exit_code(run) == -signal.SIGKILL
    assert killed[0], "the agent was at work"
    for pid in killed[0]:
        assert ended(pid), Path(f"/proc/{pid}/cmdline").read_bytes()
    assert _agents() == []
    assert repo.log() == []

    report = repo.run(axis=AXIS, hired={"family": family, "agent": "vendor"}, sandbox="required")

    assert report.ending == "complete", report.why
    assert repo.log("%s") == ["Count a from zero", "Count b from zero"]
    assert len(provider.bill.rows) >= 5
    # What the killed run had spent is not lost.
    assert report.spend_usd >= provider.bill.usd - 1e-9
    assert any("begins it anew" in note for note in report.notes)


def _agents() -> list[int]:
    """Processes of a vendor's program that are children of ours, however far down."""
    found: list[int] = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            words = (place / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        named = any(
            word.endswith((b"_bundled/claude", b"codex_cli_bin/bin/codex")) for word in words
        )
        if named and str(os.environ["SWATHE_HOME"]).encode() in (place / "cmdline").read_bytes():
            found.append(int(place.name))
    return found
