"""What a gate run means, against the baseline. A verdict is earned test by test, never by an exit code alone.

An exit code alone lets 17 of 17 known attacks on a gate pass (`|| true`, a deleted test, a skip);
the names and outcomes of the base commit's tests stop the mechanical ones.
"""

from domain.gate import Baseline, Failure, GateRun, Verdict

MOST_NAMED = 50
SIGNALLED = 128
"""A shell's exit code for a command that a signal ended is this plus the signal's number."""
COLLECTION = "::(collection)"
"""Ends the id of a file that could not be collected: not a test, so it may vanish."""


def judge(run: GateRun, baseline: Baseline) -> Verdict:
    """Green only if every test that passed on the base passes, and nothing new is wrong.

    Known failures may stay (or go, and are listed as fixed); tests known as flaky decide nothing.
    """
    # Two comparisons: they narrow the type, a set does not.
    if run.status != "passed" and run.status != "failed":  # noqa: PLR1714
        return Verdict(kind=run.status, failures=_nameless(run), seconds=run.seconds, log=run.log)
    new, missing = _new_failures(run, baseline), _missing(run, baseline)
    failures = new or (_absent(missing) if run.tests else ())
    if not failures and run.tests and run.signed < baseline.run.signed:
        failures = (_unsigned(run),)
    if not failures and not _explained(run, baseline):
        failures = _nameless(run)
    return Verdict(
        kind="red" if failures else "green",
        failures=failures,
        fixed=_fixed(run, baseline),
        seconds=run.seconds,
        truncated=bool(new and missing),
        log=run.log,
    )


def settle(first: GateRun, again: GateRun, baseline: Baseline) -> tuple[Verdict, tuple[str, ...]]:
    """The verdict on a commit that was red once and was run again, and the tests that answered both ways.

    Those excuse themselves and nobody else: what failed twice is red.
    """
    flaky = flaky_between(first, again)
    return judge(again, baseline.excusing(flaky)), flaky


def flaky_between(first: GateRun, again: GateRun) -> tuple[str, ...]:
    """Tests that two runs of the same commit answered differently."""
    one, two = first.tests or {}, again.tests or {}
    return tuple(sorted(t for t in one.keys() & two.keys() if _answer(one[t]) != _answer(two[t])))


def baseline_of(first: GateRun, again: GateRun | None = None) -> Baseline:
    """What the base commit says by itself, from one run or two.

    The one that demands more is kept: more tests, and of runs without names the one that passed.
    A test that only one of two equally long runs had (an id made of the time) is flaky too.
    """
    if again is None or not again.answered:
        return Baseline(run=first, failed=tuple(sorted(first.failing)))
    one, two = first.tests or {}, again.tests or {}
    flaky = {
        *flaky_between(first, again),
        *(one.keys() ^ two.keys() if len(one) == len(two) else ()),
    }
    return Baseline(
        run=max(first, again, key=lambda run: (len(run.tests or {}), run.status == "passed")),
        failed=tuple(sorted((first.failing & again.failing) - flaky)),
        flaky=tuple(sorted(flaky)),
    )


def notices(run: GateRun, baseline: Baseline) -> bool:
    """Whether the gate saw that something is broken. A gate that stays green with a broken source proves nothing."""
    return judge(run, baseline).kind in {"red", "timeout"}


def _answer(outcome: str) -> str:
    return "failed" if outcome == "error" else outcome


def _new_failures(run: GateRun, baseline: Baseline) -> tuple[Failure, ...]:
    """Tests that fail here and not on the base, then tests that are skipped here and were not."""
    excused = {*baseline.failed, *baseline.flaky}
    failing = [
        Failure(test=test, message=run.messages.get(test, ""))
        for test in sorted(run.failing - excused)
    ]
    before = baseline.run.skipped
    more = len(run.skipped - {*baseline.flaky}) - len(before - {*baseline.flaky})
    # One id at a time: a test that is skipped now and was not before is not made up for by another.
    skipped = [
        Failure(test=test, message="skipped here, and not on the base commit")
        for test in sorted(run.skipped - before - {*baseline.flaky})
        if more > 0 or test in (baseline.run.tests or {})
    ]
    return (*failing, *skipped)


def _missing(run: GateRun, baseline: Baseline) -> list[str]:
    """Tests of the base that did not run: deleted, deselected, or behind the runner's stop."""
    here = run.tests or {}
    return sorted(
        test
        for test in (baseline.run.tests or {})
        if test not in here and test not in baseline.flaky and not test.endswith(COLLECTION)
    )


def _absent(missing: list[str]) -> tuple[Failure, ...]:
    message = "did not run here; it ran on the base commit"
    more = len(missing) - MOST_NAMED
    named = [Failure(test=test, message=message) for test in missing[:MOST_NAMED]]
    if more > 0:
        named[-1] = Failure(test=named[-1].test, message=f"{message}, like {more:,} more tests")
    return tuple(named)


def _explained(run: GateRun, baseline: Baseline) -> bool:
    """Whether what is known accounts for how the commands ended, when no test is newly bad."""
    if not run.tests and (run.tests is not None or baseline.run.tests is not None):
        return False  # the runner's report is missing, or has no test in it
    if run.status == "passed":
        return True
    known = {*baseline.failed, *baseline.flaky}
    by_tests = bool(run.failing) and run.failing <= known and not _was_killed(run)
    return by_tests or (_ends(run) == _ends(baseline.run) and not baseline.run.failing)


def _was_killed(run: GateRun) -> bool:
    return run.exit_code is None or run.exit_code < 0 or run.exit_code > SIGNALLED


def _ends(run: GateRun) -> tuple[str, str, int | None]:
    return run.status, run.command, run.exit_code


def _unsigned(run: GateRun) -> Failure:
    said = "a report does not come from the runner: it lacks the mark that this run gave it"
    return Failure(test=run.command, message=f"{said}\n{run.tail}")


def _nameless(run: GateRun) -> tuple[Failure, ...]:
    message = "\n".join(part for part in (run.why, run.tail) if part)
    return (Failure(test=run.command, message=message),)


def _fixed(run: GateRun, baseline: Baseline) -> tuple[str, ...]:
    """Known failures that pass here; a file that could not be collected is fixed when it is gone from the report."""
    here = run.tests or {}
    gone = {
        test for test in baseline.failed if test.endswith(COLLECTION) and here and test not in here
    }
    passing = {test for test in baseline.failed if here.get(test) == "passed"}
    return tuple(sorted(gone | passing))
