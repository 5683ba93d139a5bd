"""A review by two scripted families: real SDKs, real gate, real Prefect (ADR-011, ADR-045)."""

import pytest
from reviews import (
    BOTH,
    CLAUDE,
    HOLDS,
    INDEX,
    attentive,
    bash,
    bug,
    fixed,
    mended,
    phase,
    read,
    review,
    verdict,
)
from stub_script import Call, Turn

from adapters.processes.sandbox import available

pytestmark = [
    pytest.mark.flow,
    pytest.mark.skipif(not available().works, reason=f"needs a sandbox: {available().why}"),
]

HAND_OVER = 0.95


@pytest.fixture(name="texts")
def _texts(make):
    """Two folders of two files, and a BUG in one of them."""

    def texts(planted="a", gate=HOLDS):
        files = {f"{name}/{nth}.txt": "fine\n" for name in "ab" for nth in ("one", "two")}
        repo = make(0, {"keep.txt": "one\n", **files, f"{planted}/two.txt": "fine\nBUG here\n"})
        repo.gate(gate)
        repo.sandbox = "required"
        return repo

    return texts


TWO_CHUNKS = {"paths": ("a/", "b/"), "max_review_chunk_tokens": 8}
ASKED = {"hired": BOTH, **TWO_CHUNKS}


def phases(provider, phase, since=0):
    """What each of those was told that were asked for a phase; with who it was."""
    told = {}
    for seen in [request.seen for request in provider.requests[since:]]:
        if seen.user.startswith(f"PHASE: {phase}"):
            told.setdefault((seen.conversation, seen.user), (seen.family, seen.user))
    return list(told.values())


def families(provider, phase, since=0):
    return [family for family, _ in phases(provider, phase, since)]


@pytest.mark.parametrize("finder", ["claude", "gpt"])
def test_a_planted_blocker_is_found_mended_in_the_same_conversation_and_landed(
    texts, serve, finder
):
    """Then all is clean, a second run asks nobody, and a file broken by hand costs its own chunk alone."""
    repo = texts("a" if finder == "claude" else "b")
    provider = serve(attentive())
    report = review(repo, **ASKED)

    planted = "a/two.txt" if finder == "claude" else "b/two.txt"
    assert report.ending == "complete", report.why
    assert repo.log("%s") == [f"Mend {planted}"]
    assert repo.landed(planted) == "fine\nright"
    assert f"Swathe-Executor: {finder}" in repo.git("log", "-1", "--format=%B", repo.branch)
    assert families(provider, "review")[:2] == ["claude", "gpt"]
    assert families(provider, "fix") == [finder]
    first = next(at for at, r in enumerate(provider.requests) if "PHASE: fix" in r.seen.user)
    before, row = provider.bill.rows[first - 1], provider.bill.rows[first]
    known = sum(before[name] for name in ("plain", "read", "written"))
    assert row["conversation"] == before["conversation"]
    assert row["read"] >= HAND_OVER * known
    assert report.spend_usd == pytest.approx(provider.bill.usd) == repo.state().spend_usd

    calls = len(provider.requests)
    again = review(repo, **ASKED)

    assert again.ending == "nothing-to-do", again.why
    assert len(provider.requests) == calls

    repo.git("merge", "-q", "--ff-only", repo.branch)
    repo.write({"b/one.txt": "fine\nBUG by hand\n"}).commit("Break it by hand")
    third = review(repo, **ASKED)

    assert third.ending == "complete", third.why
    assert repo.log("%s") == ["Mend b/one.txt"]
    told = [words for _, words in phases(provider, "review", calls)]
    assert told
    assert all("`b" in words for words in told)


def test_a_fixer_that_pushes_back_is_told_to_the_next_reviewer_and_the_finding_is_over(
    texts, serve
):
    refused = {"path": "a/two.txt", "line": 2, "why": "it is spelled so in the standard"}

    def argued(seen, paths, nth):
        return fixed(refused)

    looks = []

    def script(seen):
        if "PHASE: fix" in seen.user:
            return attentive(argued)(seen)
        if not seen.results:
            looks.append(seen.user)
        if "the answer: it is spelled so" in seen.user and "BUG" in str(seen.results[-1:]):
            return verdict()
        return attentive()(seen)

    provider = serve(script)
    repo = texts()

    report = review(repo, **ASKED)

    assert report.ending == "complete", report.why
    assert repo.log() == []
    assert families(provider, "fix") == ["claude"]
    told = [
        words for _, words in phases(provider, "review") if "the answer: it is spelled so" in words
    ]
    assert told, "whoever looks next knows the answer"
    assert repo.state().review.pushbacks[0].why == refused["why"]


def test_a_fix_that_is_red_is_parked_and_tried_once_more_before_it_is_left(texts, serve):
    """C4: the run ends with a list of what remains, and the next one asks nobody."""

    def breaks(seen, paths, nth):
        return mended(paths[nth], "broken") if nth < len(paths) else fixed()

    provider = serve(attentive(breaks))
    repo = texts()

    report = review(repo, **ASKED)

    assert report.ending == "red", report.why
    assert repo.log() == []
    assert [parked.reason for parked in report.parked] == ["red"]
    (left,) = [one for one in report.remaining if one.rule == "blocker"]
    assert left.site == "a/two.txt:2"
    assert "after an attempt that ended: red" in left.why
    assert families(provider, "fix") == ["claude"]
    calls = len(provider.requests)

    again = review(repo, **ASKED)
    assert (again.ending, len(provider.requests)) == ("red", calls), again.why

    provider.script = attentive()
    freed = review(repo, **ASKED, retry=True)
    assert freed.ending == "complete", freed.why
    assert repo.log("%s") == ["Mend a/two.txt"]


def test_a_reviewer_that_claims_what_it_never_opened_is_asked_again_and_then_not_counted(
    texts, serve
):
    """C5, T81: engagement is what the tools showed."""
    claims = verdict(files=("a/one.txt", "a/two.txt"))

    def script(seen):
        return claims if seen.family == "claude" else attentive()(seen)

    provider = serve(script)
    repo = texts()

    report = review(repo, **ASKED)

    assert report.ending != "complete"
    again = [words for family, words in phases(provider, "review") if "counts for nothing" in words]
    assert again, "it was told why"
    assert "it opened no file of the chunk" in again[0]
    assert {mark.families for marks in repo.state().review.clean.values() for mark in marks} == {
        ("gpt",)
    }
    assert any("claude" in left.why for left in report.remaining), report.remaining


def test_doubts_send_no_fixer_and_are_no_clean_pass(texts, serve):
    """C7: a rejection of low confidence."""

    def script(seen):
        if "BUG" in str(seen.results[-1:]):
            return verdict(bug("a/two.txt", 2), confidence="low")
        return attentive()(seen)

    provider = serve(script)
    repo = texts()

    report = review(repo, **ASKED)

    assert report.ending == "stalled", report.why
    assert families(provider, "fix") == []
    (left,) = report.remaining
    assert (left.rule, left.site) == ("chunk", "a")
    assert "low confidence" in left.why


def test_inline_shows_every_byte_and_nothing_has_to_be_opened(texts, serve):
    def script(seen):
        if "PHASE: fix" in seen.user:
            return mended("a/two.txt") if seen.results == ("The phase is over.",) else fixed()
        return verdict(*[bug("a/two.txt", 2)] * ("2\tBUG here" in seen.user))

    provider = serve(script)
    repo = texts()

    report = review(repo, hired=BOTH, paths=("a/", "b/"), context_mode="inline")

    assert report.ending == "complete", report.why
    assert repo.log("%s") == ["Mend a/two.txt"]
    first = phases(provider, "review")[0][1]
    for place in ("## a/one.txt", "## b/two.txt", "     1\tfine", "     2\tBUG here"):
        assert place in first


def test_full_coverage_wants_every_line_shown(texts, serve):
    """C6: what was not opened blocks clean, and is named."""
    lazy = [read("b/one.txt"), verdict()]

    def script(seen):
        return lazy[bool(seen.results)] if "`b`" in str(seen.body) else attentive()(seen)

    serve(script)
    repo = texts()

    report = review(repo, **ASKED, coverage="full")

    assert report.ending == "stalled", report.why
    (left,) = report.remaining
    assert (left.rule, left.site) == ("chunk", "b")
    assert "not shown to the reviewer: b/two.txt:1-" in left.why
    assert any("not shown to a reviewer: b/two.txt:1-" in note for note in report.notes)

    serve(attentive())
    assert review(repo, **ASKED, coverage="any").ending == "complete", "other terms, another review"


def test_more_chunks_than_passes_are_finished_by_the_next_run(texts, serve):
    """C1."""
    provider = serve(attentive())
    repo = texts()

    first = review(repo, **ASKED, max_review_passes=1)

    assert (first.ending, first.passes) == ("passes", 1), first.why
    assert repo.log("%s") == ["Mend a/two.txt"], "the fix is part of its pass"
    assert families(provider, "review") == ["claude"]

    second = review(repo, **ASKED, max_review_passes=5)

    assert second.ending == "complete", second.why
    assert families(provider, "review")[1:] == ["gpt", "gpt"] or families(provider, "review")[
        1:
    ] == ["gpt", "claude"]


def test_one_family_alone_says_so(texts, serve):
    provider = serve(attentive())
    repo = texts()

    report = review(repo, hired=(CLAUDE,), **TWO_CHUNKS)

    assert report.ending == "complete", report.why
    assert set(families(provider, "review")) == {"claude"}
    assert "reviewed by claude, alone: nobody checks it (as asked)" in report.notes


NO_VERDICT = (
    Turn(text="It all looks fine to me."),
    Turn(calls=(Call("submit_review", '{"approved": '),)),
    Turn(calls=(Call("submit_review", {"approved": "perhaps", "blockers": "none"}),)),
)
"""Words, half a verdict, one of other types."""


@pytest.mark.parametrize("said", NO_VERDICT, ids=["words", "half of one", "other types"])
def test_what_is_no_verdict_is_asked_for_again_and_counts_once_it_is_one(texts, serve, said):
    """T12."""

    def script(seen):
        if seen.family == "claude" and seen.answers == 2 and "PHASE: fix" not in str(seen.body):
            return said
        if seen.family == "claude" and seen.answers == 3 and "PHASE: fix" not in str(seen.body):
            return read("a/one.txt", "a/two.txt")
        return attentive()(seen)

    serve(script)
    repo = texts()

    report = review(repo, **ASKED)

    assert report.ending == "complete", report.why
    assert repo.log("%s") == ["Mend a/two.txt"]


@pytest.mark.parametrize("said", NO_VERDICT, ids=["words", "half of one", "other types"])
def test_a_family_that_never_gives_a_verdict_moves_no_cursor_and_ends_no_run_as_a_success(
    texts, serve, said
):
    """T12, C7: the pass is as if nobody had looked."""

    def script(seen):
        if seen.family == "claude":
            return said if seen.answers else attentive()(seen)
        return attentive()(seen)

    provider = serve(script)
    repo = texts("b")

    report = review(repo, **ASKED, stop_when="covered_by_both")

    assert report.ending == "stalled", report.why
    state = repo.state().review
    assert {mark.families for marks in state.clean.values() for mark in marks} == {("gpt",)}
    assert {one.kind for one in state.fruitless} == {"void"}
    assert all("claude" in left.why for left in report.remaining), report.remaining
    calls = len(provider.requests)
    provider.script = attentive()

    assert review(repo, **ASKED, stop_when="covered_by_both").ending == "complete"
    assert set(families(provider, "review", calls)) == {"claude"}


def test_other_chunks_another_axis_and_a_wider_scope_are_reviewed_for_what_is_new_in_them(
    texts, serve
):
    """C3, T03."""
    provider = serve(attentive())
    repo = texts("b")

    def looks(**asked):
        before = len(provider.requests)
        report = review(repo, **{**ASKED, **asked})
        assert report.ending in ("complete", "nothing-to-do"), report.why
        return len(phases(provider, "review", before))

    narrow = {"paths": ("a/",), "hired": (CLAUDE,)}
    assert looks(**narrow) == 1
    assert looks(**narrow) == 0
    assert looks(hired=(CLAUDE,)) == 2, "b, and b once more after the fix"
    assert looks(hired=(CLAUDE,), max_review_chunk_tokens=9_000) == 1
    assert looks(hired=(CLAUDE,), max_review_chunk_tokens=9_000) == 0
    about = {"axis": {"text": "files that say BUG"}, "hired": (CLAUDE,)}
    assert looks(**about) == 3, "on a branch of its own, from the base"
    assert looks(**about) == 0


def test_an_answer_goes_with_its_line_when_the_same_phase_mends_another_one_of_the_file(
    texts, serve
):
    """The reviewer that raises it again brings nothing new, and an edit of the line itself opens it."""
    answer = {"path": "a/two.txt", "line": 3, "why": "it is spelled so in the standard"}
    first = {**bug("a/two.txt", 1), "why": "BUG: a line is missing above"}

    def script(seen):
        if phase(seen) == "fix":
            done = "Add a line" in str(seen.body)
            add = "sed -i '1i fine' a/two.txt && git commit -qam 'Add a line'"
            return fixed(answer) if done else bash(add)
        if seen.answers == 0:
            return attentive()(seen)
        shown = str(seen.results[-1:])
        if INDEX in shown:
            return attentive()(seen)
        if "a/two.txt" not in shown:
            return verdict()
        row = 4 if "4\\tBUG here" in shown else 3
        return verdict(bug("a/two.txt", row), *([first] if row == 3 else []))

    provider = serve(script)
    repo = texts()
    repo.write({"a/two.txt": "fine\nfine\nBUG here\n"}).commit("Make room")

    report = review(repo, **ASKED)

    assert report.ending == "complete", report.why
    assert repo.log("%s") == ["Add a line"]
    assert len(families(provider, "fix")) == 1
    (kept,) = repo.state().review.pushbacks
    assert (kept.blocker.line, kept.why) == (4, answer["why"])

    repo.git("merge", "-q", "--ff-only", repo.branch)
    repo.write({"a/two.txt": "fine\nfine\nfine\nBUG here, and there\n"}).commit("Edit the line")
    calls = len(provider.requests)
    review(repo, **ASKED, max_review_passes=1)
    assert len(families(provider, "fix", calls)) == 1, "another content of the line: asked anew"
