"""Teach once, sweep the rest: a scripted model does the first sites, and a rule made from them does the others."""

import signal

import pytest
from harness import COMPILES, exit_code, forked, killed_before
from stub_script import Call, Turn, turns

from adapters.processes.sandbox import available
from domain.lesson import rule_name

pytestmark = [
    pytest.mark.flow,
    pytest.mark.skipif(not available().works, reason=f"needs a sandbox: {available().why}"),
]

AXIS = "call new instead of old"
TAUGHT, SWEPT, OTHERS = 6, 20, 4
RULE = """id: new-for-old
language: python
message: call new
rule:
  pattern: old($A)
fix: new($A)
"""
PLAIN = range(1, TAUGHT + SWEPT + 1)
PAIRS = range(TAUGHT + SWEPT + 1, TAUGHT + SWEPT + OTHERS + 1)
FILES = {
    **{f"m{n:02}.py": f"x = old({n})\ny = {n}\n" for n in PLAIN},
    **{f"m{n:02}.py": f"x = pair_of_old({n})\n" for n in PAIRS},
}
CHECKS = f"{COMPILES} && ! grep -q broken m*.py\n"


def change(path: str, text: str) -> Turn:
    return Turn(
        calls=(
            Call("write", {"path": path, "text": text}),
            Call("bash", {"command": f"git commit -qam 'Call new in {path}'"}),
        )
    )


def finish(*, complete: bool = False) -> Turn:
    return Turn(calls=(Call("finish_pass", {"axis_complete": complete, "note": "done"}),))


FIRST = [
    *(change(f"m{n:02}.py", f"x = new({n})\ny = {n}\n") for n in range(1, TAUGHT + 1)),
    finish(),
]
LAST = [*(change(f"m{n:02}.py", f"x = new({n}), new({n})\n") for n in PAIRS), finish(complete=True)]
NONE_LEFT = Turn(calls=(Call("submit_sites", {"sites": []}),))


def rule(text: str, note: str = "") -> Turn:
    return Turn(calls=(Call("submit_rule", {"rule": text, "note": note}),))


def script(*rules, work=(FIRST, LAST), looks=NONE_LEFT):
    """What the model says: in its first pass, in the others, and at each question for a rule."""
    questions: list[str] = []

    def said(seen):
        first = str(seen.body)
        if "PHASE: rescan" in first:
            return turns([looks])(seen)
        if "PHASE: teach" in first:
            if seen.conversation not in questions:
                questions.append(seen.conversation)
            return turns([rules[questions.index(seen.conversation)]])(seen)
        return turns(work[0] if "Pass 1." in first else work[1])(seen)

    return said


@pytest.fixture(name="repo")
def _repo(make):
    repo = make(0, FILES)
    repo.gate(CHECKS)
    return repo


def asked(family: str = "claude", **more: object) -> dict[str, object]:
    return {
        "axis": AXIS,
        "hired": {"family": family},
        "teach": TAUGHT,
        "sandbox": "required",
        **more,
    }


def questions(provider, phase: str) -> list[str]:
    return [request.raw.decode() for request in provider.requests if phase in request.raw.decode()]


@pytest.mark.parametrize("family", ["claude", "gpt"])
def test_the_first_sites_are_the_models_the_rest_the_rules_and_what_it_cannot_do_the_models(
    repo, serve, family
):
    provider = serve(script(rule(RULE)))

    report = repo.run(**asked(family))

    assert (report.ending, report.passes) == ("complete", 3), report.why
    assert report.parked == ()
    assert len(report.landed) == TAUGHT + SWEPT + OTHERS
    name = rule_name(RULE)
    rows = repo.log(
        "%(trailers:key=Swathe-Executor,valueonly,separator=)/%(trailers:key=Swathe-Rule,valueonly,separator=)"
    )
    assert rows == [f"{family}/"] * TAUGHT + [f"codemod/{name}"] * SWEPT + [f"{family}/"] * OTHERS
    costs = repo.log("%(trailers:key=Swathe-Cost-USD,valueonly,separator=)")
    assert set(costs[TAUGHT : TAUGHT + SWEPT]) == {"0"}
    assert repo.landed("m13.py") == "x = new(13)\ny = 13"
    taught = report.taught
    assert (taught.taught, taught.held_out, taught.compiled, taught.left) == (6, 2, SWEPT, OTHERS)
    assert (taught.rule, taught.name, taught.parked) == (RULE, name, 0)
    assert taught.saved_usd == pytest.approx(SWEPT * taught.usd_each - taught.usd)
    assert report.spend_usd >= provider.bill.usd
    (teaching,) = questions(provider, "PHASE: teach")
    assert "m01.py" in teaching
    assert not [held for held in ("m03.py", "m06.py") if held in teaching]
    (first, *_) = questions(provider, "Pass 1.")
    assert "Do 6 sites in this pass" in first
    third = questions(provider, "Pass 3.")[0]
    assert "A rule that was made from your first sites did 20 of those that landed" in third
    assert not questions(provider, "Pass 2.")


KEPT = "grep -q 'old(20)' m20.py && "
"""A check that the rule breaks."""


def test_a_rule_that_reaches_too_far_is_parked_like_anybody_else_and_the_model_is_told(repo, serve):
    provider = serve(script(rule(RULE)))
    repo.gate(KEPT + CHECKS)

    report = repo.run(**asked())

    assert report.ending == "complete", report.why
    (parked,) = report.parked
    assert (parked.site, parked.reason, parked.rule) == ("m20.py:1", "red", rule_name(RULE))
    assert repo.landed("m20.py") == "x = old(20)\ny = 20"
    assert repo.landed("m19.py") == "x = new(19)\ny = 19"
    assert (report.taught.compiled, report.taught.parked) == (SWEPT - 1, 1)
    third = questions(provider, "Pass 3.")[0]
    assert "Parked, not landed. Do not try the same again" in third
    assert "m20.py:1 Fix new-for-old in m20.py:1" in third


def wrong(text: str) -> str:
    return RULE.replace("new($A)", text)


def test_a_rule_that_fails_its_proof_is_told_so_and_the_next_one_is_proved_anew(repo, serve):
    """One that ast-grep refuses, and one that does otherwise than what landed."""
    provider = serve(
        script(rule("id: x\nlanguage: klingon\n"), rule(wrong("newer($A)")), rule(RULE))
    )

    report = repo.run(**asked())

    assert report.ending == "complete", report.why
    assert report.taught.compiled == SWEPT
    first, second, third = questions(provider, "PHASE: teach")
    assert "This rule was tried" not in first
    assert "ast-grep does not accept the rule" in second
    assert "klingon" in second
    assert "-x = new(1)" in third
    assert "+x = newer(1)" in third
    assert [("m03.py" in words, "m06.py" in words) for words in (first, second, third)] == [
        (False, False),
        (False, False),
        (True, False) if "m03.py" in third else (False, False),
    ]
    assert "it does not do 2 as they landed" in third


EVERY = [
    *(change(f"m{n:02}.py", f"x = new({n})\ny = {n}\n") for n in PLAIN if n > TAUGHT),
    *LAST,
]


@pytest.mark.parametrize(
    ("rules", "why"),
    [
        ([wrong("newer($A)")] * 3, "3 rules did not hold"),
        ([""], "it says that no rule can do it. too many shapes"),
    ],
    ids=["other", "none"],
)
def test_a_rule_that_does_not_hold_is_given_up_and_the_model_goes_on_alone(repo, serve, rules, why):
    provider = serve(
        script(*(rule(text, "too many shapes") for text in rules), work=(FIRST, EVERY))
    )

    report = repo.run(**asked(budget={"max_passes": 1}))
    assert report.taught is None
    report = repo.run(**asked())

    assert (report.ending, len(report.landed)) == ("complete", SWEPT + OTHERS), report.why
    assert why in report.taught.why
    assert any(note.startswith("the model goes on alone: ") for note in report.notes)
    assert not any(commit.rule for commit in report.landed)
    assert (report.taught.compiled, report.taught.saved_usd) == (0, -report.taught.usd)
    assert len(questions(provider, "PHASE: teach")) == len(rules)
    assert repo.state().lesson.why == report.taught.why


def killed_keeping(options) -> None:
    """Run a campaign, and die by SIGKILL when a rule is proved, before the state says so."""
    import os  # noqa: PLC0415 -- in the child

    from adapters import teaching  # noqa: PLC0415
    from cli import engine  # noqa: PLC0415

    teaching.save = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
    engine.run_campaign(options)


@pytest.mark.parametrize(
    ("die", "step"),
    [
        (killed_keeping, ()),
        (killed_before, ("pass 2: the taught rule changes the sites",)),
        (killed_before, ("asking for a rule that does the rest",)),
    ],
    ids=["proved", "kept", "asking"],
)
def test_a_kill_between_the_lesson_and_the_sweep_pays_nothing_twice(repo, serve, die, step):
    provider = serve(script(rule(RULE)))

    assert exit_code(forked(die, repo.options(**asked()), *step)) == -signal.SIGKILL
    before = len(provider.requests)
    report = repo.run(**asked())

    assert report.ending == "complete", report.why
    assert len(report.landed) == SWEPT + OTHERS
    assert report.taught.compiled == SWEPT
    assert len(repo.log()) == TAUGHT + SWEPT + OTHERS
    assert len(questions(provider, "PHASE: teach")) == 1
    assert before == len(FIRST) + (die is killed_keeping or "rule changes" in step[0])
    paid = [(row["conversation"], row["answers"]) for row in provider.bill.rows]
    assert len(paid) == len(set(paid)), "no request twice"


def test_a_rule_is_kept_for_the_next_run_and_does_not_do_again_what_was_taken_back(repo, serve):
    provider = serve(script(rule(RULE)))
    first = repo.run(**asked(budget={"max_passes": 2}))
    assert (first.ending, len(first.landed)) == ("passes", TAUGHT + SWEPT)
    repo.git("checkout", "-q", repo.branch.removeprefix("refs/heads/"))
    (tenth,) = [commit.sha for commit in first.landed if commit.site == "m10.py:1"]
    repo.git("revert", "--no-edit", tenth)
    repo.git("checkout", "-q", "main")
    answered = len(provider.requests)
    provider.script = script(work=(LAST, LAST))

    second = repo.run(**asked())

    assert second.ending == "complete", second.why
    assert repo.landed("m10.py") == "x = old(10)\ny = 10"
    assert len(second.declined) == 1
    assert (second.taught.compiled, second.taught.usd) == (0, 0)
    assert not [r for r in provider.requests[answered:] if "PHASE: teach" in r.raw.decode()]
    assert "m10.py" in questions(provider, "Pass 1.")[-1] or second.declined


def test_teaching_is_refused_without_a_model(repo):
    done, report = repo.typed("--teach", "5")

    assert done.exit_code == 2
    assert "--teach 5: a rule is taught by a model's commits" in report.why
