"""The contract that a model works under, clause by clause: what the engine does when it is broken.

The clauses are in domain/contracts/campaign.md. The engine believes no word of the model's; it looks at commits, and
runs the gate on them.
"""

import json

import pytest
from stub_script import Call, Turn, turns
from talks import FINISH, bash, call

from adapters import ending, hiring, verifying
from adapters.executors.passes import opened_classes
from adapters.repository.opening import touched_by_branch
from adapters.repository.workspaces import run_folder, tracked
from adapters.shelf import put
from domain.admission import Rules, admit
from domain.axis import Sentence
from domain.batch import Batch
from domain.budget import Budget
from domain.journal import Journal
from domain.proof import Question
from domain.site import Listing
from domain.state import State
from domain.survey import Brief, Start, Survey

AXIS = Sentence(text="count from zero in every module")
CHECK = r"""
bad=1  # `old` fails on the base already
{ echo "<testsuite name='checks'><testcase classname='checks' name='old'><failure message='as ever'/></testcase>"
  for file in a b; do
    echo "<testcase classname='checks' name='$file'>"
    grep -q broken $file.py && echo "<failure message='$file is broken'/>"
    [ -z "$(sed -n 's/^import //p' $file.py)" ] || [ -e "$(sed -n 's/^import //p' $file.py).py" ] || echo "<failure message='no module'/>"
    echo "</testcase>"
  done
  echo "</testsuite>"; } > "$SWATHE_JUNIT/checks.xml"
exit $bad
"""
FILES = {"a.py": "one\n", "b.py": "one\n", "tests/test_a.py": "import a\n", "tests/check.sh": CHECK}


def saves(path: str, text: str, message: str = "Count from zero") -> Turn:
    return Turn(
        calls=(
            Call("write", {"path": path, "text": text}),
            Call("bash", {"command": f"git add -A && git commit -qm '{message}'"}),
        )
    )


def finish(**more: object) -> Turn:
    return call("finish_pass", **{"axis_complete": True, "note": "all tests pass", **more})


@pytest.fixture(name="work")
def _work(talk, target, hire):
    """A pass of a model that says `said`: the run, and what came across."""
    target.commit(FILES)

    def work(*said, **asked):
        one = talk(turns([*said, FINISH]))
        campaign = hire(one, target, AXIS, verify=("sh tests/check.sh",), **asked)
        campaign.said = one
        chain = hiring.make(campaign.workspace, AXIS, Brief(number=1, tip=campaign.workspace.base))
        return campaign, chain

    return work


def refused(campaign, chain):
    """Why commits are not admitted, by subject."""
    workspace = campaign.workspace
    rules = Rules(
        globs=workspace.target.paths,
        touched=touched_by_branch(workspace),
        opened=opened_classes(workspace),
        existing=frozenset(tracked(workspace, chain.base)),
    )
    _, out = admit(chain.commits, rules)
    return {chain.commit(sha).subject: why for sha, why in out.items()}


def proved(campaign, chain):
    """The gate's verdict on all of a chain, and the tests it fails anew."""
    probe = tuple(commit.sha for commit in chain.commits)
    proof = verifying.verify(campaign.workspace, chain, Question(good=(), probe=probe))
    return proof.verdict.kind, [failure.test for failure in proof.verdict.failures]


def test_c1_work_outside_of_the_axis_scope_is_refused_and_the_rest_is_not(work):
    """C1, one axis in its scope; V5."""
    campaign, chain = work(
        saves("b.py", "zero\n", "Inside"),
        saves("a.py", "zero\n", "Outside"),
        finish(),
        paths=["b.py"],
    )

    assert set(refused(campaign, chain)) == {"Outside"}
    assert "scope" in refused(campaign, chain)["Outside"]
    assert len(chain.commits) == 2


def test_c2_c9_a_choice_or_a_reading_is_told_to_the_operator_and_waits_for_nobody(work):
    """C2 and C9: a question is answered at once with its own assumption, however often it is asked, and stays on record."""
    ask = call("ask", question="Which modules?", assumption="all but tests")
    campaign, chain = work(ask, ask, saves("a.py", "zero\n"), finish(needs_human="drop Python 2?"))

    assert len(chain.commits) == 1
    assert "it asked 'Which modules?', and went on with 'all but tests'" in chain.notes
    assert "it needs a human: drop Python 2?" in chain.notes
    later = _journal(campaign).record(put(campaign.workspace, chain), Batch(pending=()), _survey())
    quiet = chain.model_copy(update={"notes": ()})
    later = later.record(put(campaign.workspace, quiet), Batch(pending=()), _survey("looked at"))
    notes = later.report("").notes
    assert [note for note in notes if "all but tests" in note or "drop Python 2" in note] == list(
        chain.notes[:1]
    ) + list(chain.notes[-1:])


def test_c3_a_todo_list_that_is_done_lands_nothing(work):
    """C3: the list is the model's own; no step of the engine reads it."""
    done = call(
        "todo", items=[{"text": "a.py", "state": "done"}, {"text": "b.py", "state": "done"}]
    )
    _, chain = work(done, finish())

    assert (chain.commits, chain.claimed) == ((), True)


@pytest.mark.parametrize(
    "said",
    [
        pytest.param([saves("a.py", "broken\n")], id="C4: committed without a test"),
        pytest.param(
            [
                call("write", path="a.py", text="import new\n"),
                call("write", path="new.py", text="zero\n"),
                bash("git commit -qm 'Use new' a.py"),
                bash("rm new.py"),
            ],
            id="C5: a new file is left out of its commit",
        ),
        pytest.param(
            [
                call("write", path="a.py", text="broken\n"),
                bash(
                    "SWATHE_JUNIT=/tmp sh tests/check.sh | tail -1 && git commit -qam 'It passes'"
                ),
            ],
            id="C6: the exit status of a filter is taken for the check's",
        ),
        pytest.param(
            [saves("b.py", "try:\n    broken\nexcept NameError:\n    pass  # for now\n")],
            id="C12: a failure is hidden",
        ),
    ],
)
def test_what_breaks_the_gate_is_red_whatever_the_model_says_of_it(work, said):
    """C4, C5, C6, C12: the gate is the engine's, on a clean checkout."""
    campaign, chain = work(*said, finish())

    kind, failures = proved(campaign, chain)

    assert kind == "red"
    assert len(failures) == 1


def test_c5_history_that_is_written_anew_crosses_as_what_it_became(work):
    """C5: an amended commit is one commit; the base cannot be amended away."""
    amend = bash("git commit -q --amend -m 'Count, better'")
    _, chain = work(saves("a.py", "zero\n"), amend, finish())
    assert [commit.subject for commit in chain.commits] == ["Count, better"]


def test_c5_a_base_that_is_written_anew_is_not_taken(work):
    """C5."""
    _, chain = work(
        saves("a.py", "zero\n"),
        bash("git reset -q --soft HEAD~1 && git commit -q --amend -m x"),
        finish(),
    )

    assert chain.commits == ()
    assert "nothing could be taken from the clone" in " ".join(chain.notes)


def test_c7_a_dirty_tree_is_objected_to_once_and_does_not_cross(work):
    """C7."""
    edit = call("edit", path="a.py", old="one", new="zero")
    campaign, chain = work(edit, finish(), finish())

    assert chain.commits == ()
    assert "this is not committed:\\n M a.py" in json.dumps(campaign.said.bodies[-1])


def test_c7_a_blanket_clean_reaches_the_models_own_clone_alone(work, target):
    """C7: what the operator has not committed stays."""
    target.write({"a.py": "mine\n", "notes.txt": "mine\n"})
    before = target.snapshot()
    work(
        bash("git stash -u; git clean -fdxq; git checkout -q .; rm -rf ./*; git reset -q --hard"),
        finish(),
    )

    assert target.snapshot() == before


def test_c8_a_failure_of_the_base_is_nobodys_and_a_new_one_beside_it_is_the_commits(work):
    """C8, V1."""
    campaign, chain = work(saves("a.py", "zero\n"), finish())
    assert "checks::old" in json.dumps(campaign.said.bodies[0])
    assert proved(campaign, chain) == ("green", [])

    bad = campaign.chain({"b.py": "broken\n"})
    assert proved(campaign, bad) == ("red", ["checks::b"])


@pytest.mark.parametrize(("complete", "ending_"), [(True, "complete"), (False, None)])
def test_c10_c14_an_early_end_is_gone_on_from_and_a_claim_is_looked_at(work, complete, ending_):
    """C10 and C14: too little claimed is another pass; what is claimed is looked at afresh, not believed."""
    campaign, chain = work(saves("a.py", "zero\n"), finish(axis_complete=complete))
    looks = call("submit_sites", sites=[])
    campaign.said.provider.script = turns([looks])

    survey = ending.resurvey(
        campaign.workspace, AXIS, campaign.workspace.base, 1, claimed=chain.claimed
    )

    after = _journal(campaign).record(put(campaign.workspace, chain), Batch(pending=()), survey)
    assert (survey.known, after.ending) == (complete, ending_)


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("tests/test_a.py", "tests"),
        (".github/workflows/ci.yml", "ci"),
        ("conftest.py", "config"),
        ("pytest.ini", "config"),
        ("requirements.txt", "deps"),
    ],
)
def test_c11_c12_a_check_or_a_test_that_is_changed_unasked_is_refused(work, path, why):
    """C11, a ratchet where none was allowed; C12, a test weakened to pass."""
    campaign, chain = work(saves(path, "assert True\n", "Changed"), finish())

    assert why in refused(campaign, chain)["Changed"]


def test_c11_a_check_that_fails_on_untouched_code_is_red(work):
    """C11: allowed to change the checks, it may not land one that fails elsewhere."""
    stricter = CHECK.replace(
        "<testsuite name='checks'>",
        "<testsuite name='checks'><testcase classname='checks' name='new'><failure message='b'/></testcase>",
    )
    campaign, chain = work(
        Turn(
            calls=(
                Call("write", {"path": "tests/check.sh", "text": stricter}),
                Call("bash", {"command": "git commit -qam Ratchet"}),
            )
        ),
        finish(),
        allow=["tests"],
    )

    assert refused(campaign, chain) == {}
    assert proved(campaign, chain) == ("red", ["checks::new"])


def test_c13_an_end_that_lacks_what_it_must_say_is_no_end_and_the_commits_count_from_git(work):
    """C13, V3: a lie about counts changes nothing."""
    short = call("finish_pass", axis_complete=True)
    campaign, chain = work(
        saves("a.py", "zero\n"),
        short,
        finish(note="landed 13", sites_remaining=["b.py:1 counts from one"]),
    )

    assert "note: Field required" in json.dumps(campaign.said.bodies[-1])
    assert len(chain.commits) == 1
    assert "it says is left: b.py:1 counts from one" in chain.notes


def test_c13_a_pass_without_an_end_keeps_its_commits_and_is_said(work):
    """C13: silent to the last, it is stopped."""
    _, chain = work(saves("a.py", "zero\n"), *[Turn("I am done.")] * 3)

    assert len(chain.commits) == 1
    assert not chain.claimed
    assert any("ended without a report: silent" in note for note in chain.notes)


def _journal(campaign) -> Journal:
    start = Start.from_json((run_folder(campaign.workspace) / "start.json").read_text())
    return Journal.begin(start, Budget(), "finding")


def _survey(*notes: str) -> Survey:
    return Survey(state=State(axis="x"), listing=Listing(notes=notes), tip="t", known=False)
