"""What a gate run means against the baseline: V1, V2, V4 at the level of values, T40."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.environment import digest_of
from domain.gate import Baseline, GatePlan, GateRun
from domain.judgement import MOST_NAMED, baseline_of, flaky_between, judge, notices, settle
from domain.shell_log import missing_tool

OUTCOMES = st.sampled_from(["passed", "failed", "error", "skipped"])
TESTS = st.dictionaries(st.sampled_from("abcdefgh"), OUTCOMES, min_size=1)


def run(exit_code=0, messages=None, command="pytest", **tests):
    return GateRun(
        status="failed" if exit_code else "passed",
        exit_code=exit_code,
        command=command,
        tests=tests or None,
        messages=messages or {},
    )


def nameless(exit_code, command="make check", tail=""):
    return run(exit_code, command=command).model_copy(update={"tail": tail})


def names(verdict):
    return [failure.test for failure in verdict.failures]


GREEN_BASE = Baseline(run=run(a="passed", b="passed", c="skipped"))
RED_BASE = Baseline(run=run(1, a="passed", b="failed", c="failed"), failed=("b", "c"))


def test_the_base_commit_itself_is_green():
    assert judge(GREEN_BASE.run, GREEN_BASE).green
    assert judge(RED_BASE.run, RED_BASE).green


def test_a_third_failure_on_a_red_base_is_red_and_the_only_one_named():
    """V1."""
    verdict = judge(run(1, {"a": "boom"}, a="failed", b="failed", c="failed"), RED_BASE)

    assert verdict.kind == "red"
    assert [(f.test, f.message) for f in verdict.failures] == [("a", "boom")]


def test_a_known_failure_that_passes_is_green_and_reported_as_fixed():
    """V1, T40."""
    verdict = judge(run(1, a="passed", b="failed", c="passed"), RED_BASE)

    assert (verdict.kind, verdict.fixed) == ("green", ("c",))


def test_a_new_test_may_pass_and_may_not_fail():
    assert judge(run(a="passed", b="passed", c="skipped", new="passed"), GREEN_BASE).green
    assert names(judge(run(1, a="passed", b="passed", c="skipped", new="failed"), GREEN_BASE)) == [
        "new"
    ]


def test_exit_code_0_does_not_excuse_a_failure():
    assert judge(run(0, a="failed", b="passed", c="skipped"), GREEN_BASE).kind == "red"


@pytest.mark.parametrize("base", [GREEN_BASE, RED_BASE])
@pytest.mark.parametrize("gone", ["a", "b", "c"])
def test_a_test_that_is_missing_is_red_whatever_it_said_on_the_base(base, gone):
    tests = {test: outcome for test, outcome in (base.run.tests or {}).items() if test != gone}

    verdict = judge(run(base.run.exit_code, **tests), base)

    assert (verdict.kind, names(verdict), verdict.truncated) == ("red", [gone], False)


@pytest.mark.parametrize("base", [GREEN_BASE, RED_BASE])
@pytest.mark.parametrize("test", ["a", "b"])
def test_a_test_that_is_skipped_now_is_red_even_if_it_failed_before(base, test):
    tests = {**(base.run.tests or {}), test: "skipped"}

    assert names(judge(run(base.run.exit_code, **tests), base)) == [test]


def test_a_skip_is_not_made_up_for_by_another_that_ended():
    assert names(judge(run(a="skipped", b="passed", c="passed"), GREEN_BASE)) == ["a"]


def test_a_new_test_that_is_skipped_raises_the_count_and_is_red():
    assert names(judge(run(a="passed", b="passed", c="skipped", d="skipped"), GREEN_BASE)) == ["d"]
    assert judge(run(a="passed", b="passed", c="passed", d="skipped"), GREEN_BASE).green


def test_a_runner_that_stops_at_its_first_failure_is_truncated_and_names_that_failure_only():
    verdict = judge(run(1, a="failed"), GREEN_BASE)

    assert (names(verdict), verdict.truncated) == (["a"], True)


def test_many_missing_tests_are_named_up_to_a_bound_and_counted():
    base = Baseline(run=run(**{f"t{n:03}": "passed" for n in range(200)}))

    verdict = judge(run(t000="passed"), base)

    assert len(verdict.failures) == MOST_NAMED
    assert "149 more tests" in verdict.failures[-1].message


def test_an_exit_code_that_no_failing_test_explains_is_red():
    """A coverage floor, a crash at the end, a second command."""
    verdict = judge(run(2, a="passed", b="passed", c="skipped"), GREEN_BASE)

    assert (verdict.kind, names(verdict)) == ("red", ["pytest"])
    assert judge(run(1, a="passed", b="passed", c="passed"), RED_BASE).kind == "red"


def test_an_exit_code_that_the_base_has_without_a_failing_test_is_known():
    base = Baseline(run=run(2, a="passed"))

    assert judge(run(2, a="passed"), base).green
    assert judge(run(3, a="passed"), base).kind == "red"
    assert judge(run(2, command="lint", a="passed"), base).kind == "red"


@pytest.mark.parametrize("code", [-9, 137, None])
def test_known_failures_do_not_explain_the_end_by_a_signal(code):
    killed = RED_BASE.run.model_copy(update={"exit_code": code})

    assert judge(killed, RED_BASE).kind == "red"


def test_a_run_without_a_report_is_red_when_the_base_named_its_tests():
    """`os._exit(0)` in the source."""
    assert judge(nameless(0), GREEN_BASE).kind == "red"


def test_no_test_at_all_is_red_even_if_the_base_had_none():
    empty = run(5).model_copy(update={"tests": {}, "why": "no test was collected"})

    assert judge(empty, Baseline(run=empty)).kind == "red"


def test_runs_without_names_are_compared_by_command_and_exit_code():
    good, bad = Baseline(run=nameless(0)), Baseline(run=nameless(2))

    assert judge(nameless(0), good).green
    assert judge(nameless(0), bad).green
    assert judge(nameless(2), bad).green
    assert judge(nameless(1), bad).kind == "red"
    verdict = judge(nameless(2, tail="the end of the log"), good)
    assert [(f.test, f.message) for f in verdict.failures] == [("make check", "the end of the log")]


@pytest.mark.parametrize("status", ["timeout", "unavailable", "setup-failed", "sandbox-failed"])
def test_a_run_that_did_not_answer_is_never_green(status):
    silent = GREEN_BASE.run.model_copy(update={"status": status})

    assert judge(silent, GREEN_BASE).kind == status


def test_a_test_that_is_flaky_on_the_base_decides_nothing():
    base = baseline_of(run(a="passed", b="passed"), run(1, a="passed", b="failed"))

    assert (base.failed, base.flaky) == ((), ("b",))
    for outcome in ("passed", "failed", "skipped"):
        assert judge(run(1 if outcome == "failed" else 0, a="passed", b=outcome), base).green
    assert judge(run(0, a="passed"), base).green
    assert names(judge(run(1, a="failed", b="failed"), base)) == ["a"]


def test_what_failed_twice_on_the_base_is_a_known_failure_and_not_flaky():
    base = baseline_of(run(1, a="failed", b="error"), run(1, a="failed", b="failed"))

    assert (base.failed, base.flaky) == (("a", "b"), ())


def test_an_id_that_changes_from_run_to_run_is_flaky():
    base = baseline_of(run(a="passed", t1="passed"), run(a="passed", t2="passed"))

    assert base.flaky == ("t1", "t2")
    assert judge(run(a="passed", t3="passed"), base).green


def test_a_second_run_that_broke_off_takes_no_test_from_the_baseline():
    base = baseline_of(run(a="passed", b="passed"), run(1, a="failed"))

    assert base.flaky == ("a",)
    assert judge(run(a="passed"), base).kind == "red"


def test_of_two_runs_without_names_the_one_that_passed_is_the_baseline():
    assert baseline_of(nameless(1), nameless(0)).run.exit_code == 0
    assert baseline_of(nameless(0), nameless(1)).run.exit_code == 0


def test_a_red_that_turns_green_when_run_again_lands_and_names_the_flaky_test():
    """V2."""
    verdict, flaky = settle(
        run(1, a="failed", b="passed", c="skipped"),
        run(a="passed", b="passed", c="skipped"),
        GREEN_BASE,
    )

    assert (verdict.kind, flaky) == ("green", ("a",))


def test_a_flaky_test_excuses_itself_and_not_the_one_that_fails_twice():
    """V2."""
    first = run(1, a="failed", b="failed", c="skipped")
    again = run(1, a="passed", b="failed", c="skipped")

    verdict, flaky = settle(first, again, GREEN_BASE)

    assert (verdict.kind, names(verdict), flaky) == ("red", ["b"], ("a",))


def test_a_file_that_could_not_be_collected_is_fixed_when_it_is_gone():
    broken = "tests/test_x.py::(collection)"
    base = Baseline(run=run(1, **{broken: "error", "a": "passed"}), failed=(broken,))

    verdict = judge(run(a="passed", x="passed"), base)

    assert (verdict.kind, verdict.fixed) == ("green", (broken,))


def test_a_gate_notices_a_red_and_a_hang_and_nothing_else():
    """V6."""
    assert notices(run(1, a="failed", b="passed", c="skipped"), GREEN_BASE)
    assert notices(GREEN_BASE.run.model_copy(update={"status": "timeout"}), GREEN_BASE)
    assert not notices(GREEN_BASE.run, GREEN_BASE)
    assert not notices(GREEN_BASE.run.model_copy(update={"status": "unavailable"}), GREEN_BASE)


@given(before=TESTS, after=TESTS)
def test_green_means_that_nothing_of_the_base_got_worse(before, after):
    base = baseline_of(run(1, **before))

    verdict = judge(run(0, **after), base)

    if verdict.green:
        assert before.keys() <= after.keys()
        assert all(after[test] == "passed" for test, said in before.items() if said == "passed")
        failing = {test for test, said in after.items() if said in {"failed", "error"}}
        assert failing <= set(base.failed)
    assert verdict.green == (not verdict.failures)


@given(tests=TESTS)
def test_every_run_is_green_against_itself(tests):
    one = run(int(any(said in {"failed", "error"} for said in tests.values())), **tests)

    assert judge(one, baseline_of(one, one)).green
    assert flaky_between(one, one) == ()


@pytest.mark.parametrize(
    ("line", "tool"),
    [
        ("bash: line 1: ruff: command not found", "ruff"),
        ("sh: 1: tox: not found", "tox"),
        ("/bin/sh: line 3: tox: command not found", "tox"),
        ("zsh: command not found: tox", ""),
        ("make: tox: No such file or directory", "tox"),
        ("env: \u2018tox\u2019: No such file or directory", "tox"),
        ("/opt/env/bin/python3.11: No module named pytest", "pytest"),
        ("make[1]: *** [Makefile:2: test] Error 127", "a tool"),
        ("ModuleNotFoundError: No module named 'calc'", ""),
        ("cat: missing.txt: No such file or directory", ""),
        ("404: page not found", ""),
    ],
)
def test_the_tool_that_a_log_says_is_missing(line, tool):
    assert missing_tool(f"before\n{line}\nafter") == tool


def test_the_name_of_an_environment_changes_with_everything_it_is_made_from():
    plan = GatePlan(verify=("pytest",), language="python")
    base = (plan, "/gate", "3.11", {"setup.py": b"a"})
    others = [
        (plan.model_copy(update={"setup": ("make",)}), *base[1:]),
        (plan.model_copy(update={"language": "node"}), *base[1:]),
        (plan, "/other", *base[2:]),
        (plan, "/gate", "3.12", base[3]),
        (*base[:3], {"setup.py": b"b"}),
        (*base[:3], {"setup.cfg": b"a"}),
        (*base[:3], {"setup.p": b"ya"}),
    ]

    digests = {digest_of(*one) for one in [base, *others]}

    assert len(digests) == len(others) + 1
    assert digest_of(*base) == digest_of(*base)


def test_a_report_without_the_mark_of_the_run_is_red_and_one_that_never_had_one_is_not():
    """facts/security.md §2.4: source that writes a report by itself and ends with 0."""
    base = baseline_of(run(a="passed").model_copy(update={"signed": 1}))

    forged = judge(run(a="passed"), base)

    assert forged.kind == "red"
    assert "does not come from the runner" in forged.failures[0].message
    assert judge(run(a="passed").model_copy(update={"signed": 1}), base).green
    assert judge(run(a="passed"), baseline_of(run(a="passed"))).green
    assert names(judge(run(1, a="failed"), base)) == names(
        judge(run(1, a="failed"), baseline_of(run(a="passed")))
    )


@pytest.mark.parametrize(("code", "killed"), [(-9, True), (143, True), (1, False), (-11, False)])
def test_a_gate_that_was_killed_is_told_from_one_that_failed(code, killed):
    assert GateRun(status="failed", exit_code=code).killed == killed
    assert not GateRun(status="timeout", exit_code=code).killed
