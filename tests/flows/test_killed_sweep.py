"""A model's sweep killed by SIGKILL with two jobs under way, and started again: another process, another run."""

import os
import re
import signal
from collections import Counter

import pytest
from harness import campaign, exit_code, forked
from model_scripts import changing, finish, sites
from stub_script import turns

from adapters.failpoints import VARIABLE
from adapters.processes.sandbox import available

pytestmark = [
    pytest.mark.flow,
    pytest.mark.skipif(not available().works, reason=f"needs a sandbox: {available().why}"),
]

AXIS = "count from zero in every file"
CHECKS = 'grep -q "^one$" keep.txt && ! grep -rq "broken" --include=*.txt .\n'
NAMES = ("a", "b", "c", "d")
JOBS = 2
FILES = {"keep.txt": "one\n", **{f"{name}.txt": f"one of {name}\n" for name in NAMES}}


def item_of(seen) -> str:
    found = re.search(r"> (\w+)\.txt:1", str(seen.body).replace("\\n", "\n"))
    return found[1] if found and "PHASE: rescan" not in str(seen.body) else ""


def plays(seen):
    """What is said depends on the conversation alone; the look finds what is there."""
    name = item_of(seen)
    if name:
        work = [changing(f"{name}.txt", "zero\n", f"Count {name} from zero"), finish()]
        return turns(work)(seen)
    if not seen.results:
        from reviews import bash  # noqa: PLC0415 -- a look at the files

        return bash("cat a.txt b.txt c.txt d.txt")
    left = re.findall(r"^one of (\w)", seen.results[-1], re.MULTILINE)
    return sites(
        *({"path": f"{one}.txt", "line": 1, "what": f"{one} counts from one"} for one in left)
    )


@pytest.mark.parametrize(
    "point",
    [
        "listed:2",
        "tool-kept:3",
        "answer-kept:5",
        "made-shelved:1",
        "refs-moved:3",
    ],
)
def test_no_item_is_lost_nor_done_twice_and_no_answer_is_paid_twice(make, serve, point):
    """M6, R1: but those that were under way, one for each job."""
    provider = serve(plays)
    repo = make(0, FILES)
    repo.gate(CHECKS)
    asked = {"axis": AXIS, "hired": {"family": "claude"}, "sandbox": "required", "jobs": JOBS}

    os.environ[VARIABLE] = point
    child = forked(campaign, repo.swept(**asked))
    del os.environ[VARIABLE]
    assert exit_code(child) == -signal.SIGKILL, f"{point} was not reached"
    landed = repo.log()
    report = repo.sweep(**asked)

    assert report.ending == "complete", report.why
    assert repo.log()[: len(landed)] == landed
    assert sorted(repo.log("%s")) == [f"Count {name} from zero" for name in NAMES]
    listed = repo.state().worklist
    assert listed.counts["landed"] == len(NAMES)
    assert not listed.open
    answered = Counter(
        (name, one.seen.answers) for one in provider.requests if (name := item_of(one.seen))
    )
    assert sum(answered.values()) - len(answered) <= JOBS
    assert report.spend_usd >= provider.bill.usd - 1e-9
    assert repo.state().spend_usd == pytest.approx(report.spend_usd)
    assert repo.state().open_usd == {}
