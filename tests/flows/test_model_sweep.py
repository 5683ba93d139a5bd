"""A sweep whose axis is a sentence: a scripted model makes the list, and several do its items side by side."""

import threading
import time

import pytest
from model_scripts import changing, finish, sites
from stub_script import turns

from adapters.enumerating import AT_ONCE
from adapters.processes.sandbox import available

pytestmark = [
    pytest.mark.flow,
    pytest.mark.skipif(not available().works, reason=f"needs a sandbox: {available().why}"),
]

AXIS = "count from zero in every file"
CHECKS = 'grep -q "^one$" keep.txt && ! grep -rq "broken" --include=*.txt .\n'
LONG = 60.0


def files(*names: str) -> dict[str, str]:
    return {"keep.txt": "one\n", **{f"{name}.txt": f"one of {name}\n" for name in names}}


def named(*names: str):
    return sites(
        *({"path": f"{name}.txt", "line": 1, "what": f"{name} counts from one"} for name in names)
    )


def done(name: str, text: str = "zero\n"):
    return [changing(f"{name}.txt", text, f"Count {name} from zero"), finish()]


def script(items, looks):
    """What is said for each item, by the file that it names; and for each look, by the family that makes it."""

    def said(seen):
        if "PHASE: rescan" in str(seen.body):
            return turns(looks[seen.family])(seen)
        name = next(
            name for name in items if f"> {name}.txt:1" in str(seen.body).replace("\\n", "\n")
        )
        said = items[name]
        return turns(said if isinstance(said, list) else said(seen))(seen)

    return said


def wait_for(there) -> None:
    over = time.monotonic() + LONG
    while not there():
        assert time.monotonic() < over, "it did not come about"
        time.sleep(0.02)


def test_items_are_done_side_by_side_by_models_that_know_of_theirs_alone(make, serve):
    """Both are at work at once; what was turned down is tried again, with the reason; a name without a file is dropped."""
    both, tries = threading.Barrier(2), []

    def together(name):
        def said(seen):
            if seen.answers == 0:
                both.wait(LONG)
            return done(name)

        return said

    def second_time_right(seen):
        body = str(seen.body)
        if seen.answers == 0:
            tries.append("Parked, not landed" in body)
        return done("c", "zero\n" if len(tries) > 1 else "broken\n")

    provider = serve(
        script(
            {"a": together("a"), "b": together("b"), "c": second_time_right},
            {"claude": [named("a", "b", "c", "nowhere")], "gpt": [named()]},
        )
    )
    repo = make(0, files("a", "b", "c"))
    repo.gate(CHECKS)

    report = repo.sweep(axis=AXIS, hired={"family": "claude"}, sandbox="required", jobs=2)

    assert (report.ending, report.items) == ("complete", {"landed": 3}), report.why
    assert sorted(repo.log("%s")) == [f"Count {name} from zero" for name in "abc"]
    assert tries == [False, True]
    assert any("1 named without a place" in note for note in report.notes)
    assert report.spend_usd >= provider.bill.usd > 0
    assert report.spend_usd == pytest.approx(repo.state().spend_usd)
    listed = {item.title.split()[0]: item for item in repo.state().worklist.items}
    assert (listed["c"].attempts, listed["c"].turns, listed["a"].turns) == (1, 2, 1)
    assert all(item.usd > 0 for item in listed.values())


def test_the_first_commit_does_not_wait_for_the_whole_list(make, serve):
    """T89: the rest of the list is named once the first item has landed, or never."""
    names = [f"n{number}" for number in range(AT_ONCE + 1)]
    repo = make(0, files(*names))
    repo.gate(CHECKS)

    def rest(seen):
        wait_for(lambda: repo.branches)
        return named(names[-1])

    serve(
        script(
            {name: done(name) for name in names},
            {"claude": [named(*names[:-1]), rest], "gpt": [named()]},
        )
    )

    report = repo.sweep(axis=AXIS, hired={"family": "claude"}, sandbox="required", jobs=2)

    assert (report.ending, report.items) == ("complete", {"landed": AT_ONCE + 1}), report.why


def test_an_item_that_nothing_comes_of_is_parked_after_its_attempts(make, serve):
    """M7, R3: claims that all is done change nothing."""
    serve(
        script(
            {"a": done("a"), "b": [finish(note="landed 13")]},
            {"claude": [named("a", "b")], "gpt": [named("b")]},
        )
    )
    repo = make(0, files("a", "b"))
    repo.gate(CHECKS)

    report = repo.sweep(
        axis=AXIS, hired={"family": "claude"}, sandbox="required", jobs=2, attempts=2
    )

    assert (report.ending, report.items) == ("exhausted", {"landed": 1, "parked": 1}), report.why
    (item,) = [item for item in repo.state().worklist.items if item.ended == "parked"]
    assert (item.attempts, item.why.split(":")[0]) == (2, "no edit")


def test_a_person_adds_an_item_that_no_model_named(make, serve):
    repo = make(0, files("a", "b"))
    serve(
        script(
            {"a": done("a"), "b": done("b")},
            {"claude": [lambda _: named() if repo.branches else named("a")], "gpt": [named()]},
        )
    )
    repo.gate(CHECKS)
    asked = {"axis": AXIS, "hired": {"family": "claude"}, "sandbox": "required"}
    first = repo.sweep(**asked)

    listed = repo.swathe("list", str(repo.folder), "--add", "b.txt:1", "--change", "b, too")
    astray = repo.swathe("list", str(repo.folder), "--add", "c.txt:1", "--change", "c, too")
    second = repo.sweep(**asked)

    assert listed.exit_code == 0, listed.errors
    assert (astray.exit_code, "no such file" in astray.errors) == (2, True)
    assert (first.items, second.items) == ({"landed": 1}, {"landed": 2}), second.why
    assert second.ending == "complete"
