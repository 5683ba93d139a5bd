"""A pass of a model on a target: the stub says what it does, and git says what came of it."""

import json
import os

import pytest
from repos import Repo
from stub_script import Call, Fault, Turn, first, turns
from talks import FINISH, QUICK, bash, call, says

from adapters.executors import model
from adapters.executors.consult import Consultant
from adapters.executors.model import Ears
from adapters.models import agent as agent_room
from adapters.models.account import LEDGER, Account
from adapters.processes.sandbox import available
from adapters.repository.git import tree_of
from adapters.repository.workspaces import read_files, run_folder, store
from domain.brief import PassBrief
from domain.environment import Environment
from domain.hired import Hired
from domain.ledger import Caps
from domain.sandbox import Sandbox
from domain.value import Refused

AXIS = "count from zero"
BRIEF = PassBrief(axis=AXIS, number=1)
EDIT = call("edit", path="a.py", old="one\n", new="zero\n")
SAVE = bash("git commit -qam 'Count a.py from zero'")


@pytest.fixture(name="serve")
def _serve(talk):
    return lambda script, family="claude": talk(script, family)


def pass_of(campaign, one, *, tip="", brief=BRIEF, caps=None, gate=lambda _: "green", **ears):
    return model.make(
        campaign.workspace,
        tip or campaign.workspace.base,
        brief,
        Hired(family=one.family),
        caps=caps or Caps(),
        ears=Ears(gate=gate, **ears),
        environment=Environment(digest="none"),
        keys=one.provider.environment(),
    )


@pytest.mark.parametrize("family", ["claude", "gpt"])
def test_a_brief_goes_in_and_commits_come_out(campaign, serve, family):
    more = Turn(
        calls=(
            Call("write", {"path": "pkg/new.py", "text": "n = 0\n"}),
            Call("bash", {"command": "git add -A && git commit -qm 'Add a file'"}),
        )
    )
    one = serve(turns([EDIT, SAVE, more, FINISH]), family)

    chain, outcome = pass_of(campaign, one)

    assert outcome.ended == "answered"
    assert [commit.subject for commit in chain.commits] == ["Count a.py from zero", "Add a file"]
    assert [commit.place for commit in chain.commits] == ["a.py:1", "pkg/new.py:1"]
    assert len({commit.sites for commit in chain.commits}) == 2
    found = read_files(campaign.workspace, chain.commits[-1].sha, ["a.py", "pkg/new.py"])
    assert found["a.py"].startswith(b"zero\ntwo\n")
    assert found["pkg/new.py"] == b"n = 0\n"
    assert BRIEF.words in json.dumps(one.bodies[0]).encode().decode("unicode_escape")
    # Nothing crosses but commits: the target is as it was.
    assert campaign.repo.git("status", "--porcelain") == ""


def test_the_gate_sees_the_tree_as_it_is_committed_or_not(campaign, serve):
    trees = []

    def gate(commit):
        trees.append((commit, tree_of(store(campaign.workspace), commit)))
        return f"red: {len(trees)}"

    heard = []
    ask = call("run_gate")
    junk = bash("mkdir -p out && echo junk > out/x && echo out/ > .git/info/exclude")
    script = turns([ask, EDIT, ask, SAVE, junk, ask, lambda s: heard.append(says(s)) or FINISH])
    chain, _ = pass_of(campaign, serve(script), gate=gate)

    assert heard == ["red: 3"]
    first_tree, second, third = (tree for _, tree in trees)
    assert first_tree == tree_of(store(campaign.workspace), campaign.workspace.base)
    assert second != first_tree
    assert second == chain.commits[0].tree
    # What only the model's own settings ignore is in the tree that is judged.
    assert "out/x" in read_files(campaign.workspace, trees[2][0], ["out/x"])
    assert third != second


def test_uncommitted_work_is_objected_to_once_and_does_not_cross(campaign, serve):
    heard = []
    chain, outcome = pass_of(
        campaign, serve(turns([EDIT, FINISH, lambda s: heard.append(says(s)) or FINISH]))
    )

    assert outcome.ended == "answered"
    assert "this is not committed:\n M a.py" in heard[0]
    assert chain.commits == ()


def test_a_pass_that_was_interrupted_goes_on_in_its_clone(campaign, serve):
    class Cut(Exception):
        """Stands for whatever ended the process: nothing after it is run."""

    calls = []

    def gate(_):
        calls.append(1)
        if len(calls) == 1:
            raise Cut
        return "green"

    one = serve(turns([EDIT, SAVE, call("run_gate"), FINISH]))
    with pytest.raises(Cut):
        pass_of(campaign, one, gate=gate)
    paid = len(one.provider.requests)

    chain, outcome = pass_of(campaign, one, gate=gate)

    assert outcome.ended == "answered"
    assert [commit.subject for commit in chain.commits] == ["Count a.py from zero"]
    assert (paid, len(one.provider.requests)) == (3, 4)
    # Asked for once more, it is what it was: nothing is sent.
    again, same = pass_of(campaign, one, gate=gate)
    assert ([c.sha for c in again.commits], same) == ([c.sha for c in chain.commits], outcome)
    assert len(one.provider.requests) == 4


def test_a_clone_that_was_moved_meanwhile_is_not_talked_about_as_if_it_had_not_been(
    campaign, serve
):
    one = serve(first([Fault("quota")], turns([EDIT, SAVE, FINISH]), at=1))
    assert pass_of(campaign, one)[1].ended == "paused"
    campaign.chain()

    chain, outcome = pass_of(campaign, one)

    assert outcome.ended == "answered"
    assert len(chain.commits) == 1
    assert "an interrupted pass begins anew: the clone was moved" in chain.notes[0]


def test_a_pause_keeps_the_commits_made_by_then(campaign, serve):
    one = serve(first([Fault("rate-limit", retry_after=7200)], turns([EDIT, SAVE, FINISH]), at=2))
    chain, outcome = pass_of(campaign, one)

    assert (outcome.ended, outcome.back_seconds) == ("paused", 7200)
    assert len(chain.commits) == 1


def test_money_is_counted_over_the_passes_of_a_run(campaign, serve):
    one = serve(turns([EDIT, SAVE, FINISH]))
    _, first_pass = pass_of(campaign, one, caps=Caps(max_usd=50))
    second = BRIEF.model_copy(update={"number": 2, "said": ("Go on.",)})
    _, second_pass = pass_of(campaign, one, brief=second, caps=Caps(max_usd=50))
    ledger = Account(run_folder(campaign.workspace) / LEDGER, Caps()).ledger

    assert ledger.spent_usd == pytest.approx(first_pass.usd + second_pass.usd)
    assert ledger.spent_on(2) == pytest.approx(second_pass.usd)
    assert ledger.spent_usd == pytest.approx(one.provider.bill.usd)


@pytest.mark.parametrize(
    "ruin",
    [
        "rm -rf .git",
        "git checkout -q --orphan x && git commit -qm new",
        "rm -rf .git/objects && ln -s / .git/objects",
        "echo nonsense > .git/HEAD",
    ],
)
def test_a_ruined_clone_ends_the_pass_and_harms_nothing(campaign, serve, ruin):
    """cases.md, S5."""
    before = campaign.repo.git("rev-parse", "HEAD")
    chain, _ = pass_of(campaign, serve(turns([EDIT, bash(ruin), FINISH, FINISH])))

    assert chain.commits == ()
    assert "nothing could be taken from the clone" in chain.notes[-1]
    assert campaign.repo.git("rev-parse", "HEAD") == before
    assert campaign.repo.git("status", "--porcelain") == ""
    again, _ = pass_of(
        campaign,
        serve(turns([EDIT, SAVE, FINISH])),
        brief=BRIEF.model_copy(update={"number": 2, "said": ("Again.",)}),
    )
    assert len(again.commits) == 1


def test_without_a_key_nothing_is_done(campaign, serve):
    one = serve(turns([]))
    one.provider.environment = dict
    with pytest.raises(Refused, match="ANTHROPIC_API_KEY is not set"):
        pass_of(campaign, one)
    assert not list(run_folder(campaign.workspace).glob("talk-*"))


@pytest.mark.skipif(not available("auto").works, reason="needs bubblewrap")
def test_a_pass_held_back_in_the_sandbox_commits_on_borrowed_objects(campaign, serve, tmp_path):
    """cases.md, S1: what the commands cannot see, they cannot print."""
    secret = tmp_path / "operator-key"
    secret.write_text("canary-7f3a9c")
    held = Sandbox(
        backend="bubblewrap",
        readonly=(
            str(store(campaign.workspace).git_dir / "objects"),
            str(campaign.repo.folder / ".git" / "objects"),
        ),
    )
    campaign.workspace = campaign.workspace.model_copy(update={"sandbox": held})
    os.environ["OPERATORS_TOKEN"] = "canary-in-the-environment"
    heard = []
    look = bash(
        f"git log --format=%s; pwd; cat {secret}; env; cat /proc/*/environ | tr '\\0' '\\n'"
    )
    one = serve(turns([EDIT, SAVE, look, lambda s: heard.append(says(s)) or FINISH]))

    chain, outcome = pass_of(campaign, one)

    assert outcome.ended == "answered"
    assert len(chain.commits) == 1
    assert "Count a.py from zero" in heard[0]
    # Seen where the gate's folder lies, so that one environment serves both.
    assert str(campaign.gate) in heard[0]
    assert "canary" not in json.dumps(one.bodies)
    assert "stub-key" not in json.dumps(one.bodies)


def test_commits_of_the_model_carry_no_name_of_the_operator(campaign, serve):
    pass_of(campaign, serve(turns([EDIT, SAVE, FINISH])))
    clone = Repo(campaign.agent, init=False)
    assert clone.git("log", "-1", "--format=%an %cn") == "Swathe agent Swathe agent"


@pytest.mark.parametrize("family", ["claude", "gpt"])
def test_faults_on_the_way_change_nothing_of_the_result(campaign, serve, monkeypatch, family):
    """The same script with rate limits, overloads and cut answers gives the same trees."""
    monkeypatch.setattr(agent_room, "Patience", lambda: QUICK)
    wrong = call("edit", path="a.py", old="eleven", new="x")
    steps = turns(
        [EDIT, SAVE, wrong, bash("sed -i s/two/TWO/ a.py && git commit -qam Two"), FINISH]
    )
    faults = [
        Fault("overloaded"),
        Fault("drop", billed=True),
        Turn("words " * 99, ending="cut", after=4),
        Turn(calls=FINISH.calls, ending="early", after=4),
    ]
    plain, _ = pass_of(campaign, serve(steps, family))
    second = BRIEF.model_copy(update={"number": 2})

    rough = serve(lambda s: faults[s.attempt] if s.attempt < 4 else steps(s), family)
    before = rough.provider.bill.usd
    chain, outcome = pass_of(campaign, rough, brief=second)

    assert outcome.ended == "answered"
    assert len(rough.provider.requests) == 25
    assert [commit.tree for commit in chain.commits] == [commit.tree for commit in plain.commits]
    assert len(chain.commits) == 2
    assert outcome.lost == 15
    assert outcome.usd >= rough.provider.bill.usd - before - 1e-9


# -- a second opinion


def consultant(one, **more):
    return Consultant(
        hired=Hired(family=one.family),
        caps=Caps(),
        ears=Ears(gate=lambda _: "green"),
        environment=Environment(digest="none"),
        keys=one.provider.environment(),
        **more,
    )


@pytest.mark.parametrize("family", ["claude", "gpt"])
def test_another_family_reads_a_commit_and_can_change_nothing(campaign, serve, family):
    chain = campaign.chain({"a.py": "zero\n"}, message="Count a.py from zero")
    sha = chain.commits[0].sha
    breaks = call(
        "submit_verdict",
        verdict="breaks",
        findings=[{"path": "a.py", "line": 1, "what": "nine lines are gone"}],
    )
    tries = Turn(
        calls=(Call("write", {"path": "a.py", "text": "x"}), Call("read", {"paths": ["a.py"]}))
    )
    one = serve(turns([tries, breaks]), family)

    outcome = consultant(one, number=3).confirm(campaign.workspace, sha, AXIS)
    again = consultant(one, number=3).confirm(campaign.workspace, sha, AXIS)

    assert outcome.answer.verdict == "breaks"
    assert outcome.answer.findings[0].what == "nine lines are gone"
    assert [shown.path for shown in outcome.read] == ["a.py"]
    assert (campaign.agent / "a.py").read_text() == "zero\n"
    assert "-nine" in json.dumps(one.bodies[0])
    assert again == outcome
    assert len(one.provider.requests) == 2
    ledger = Account(run_folder(campaign.workspace) / LEDGER, Caps()).ledger
    assert ledger.spent_on(3) == pytest.approx(one.provider.bill.usd)


def test_a_fresh_look_names_what_is_left_and_is_told_nothing_of_the_work(campaign, serve):
    """cases.md, M7: what the worker claims is not asked."""
    found = call("submit_sites", sites=[{"path": "pkg/b.py", "line": 1, "what": "b = 1"}])
    one = serve(turns([found]))

    outcome = consultant(one).rescan(campaign.workspace, campaign.workspace.base, AXIS)

    assert [(site.path, site.line) for site in outcome.answer.sites] == [("pkg/b.py", 1)]
    assert "Landed" not in json.dumps(one.bodies[0])
