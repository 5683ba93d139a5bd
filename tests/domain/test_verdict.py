"""What the answer of a reviewer counts for: facts/original.md §1.3, §1.4; cases.md C5 to C7."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sweeps import DUAL, blocker, engaged, part, verdict

from domain.blocker import Pushback
from domain.chunk import Chunk
from domain.shown import Shown
from domain.sweep import Terms
from domain.verdict import Count, Engagement, Unreadable, Verdict, read_verdict, weigh

CHUNK = Chunk("a", (part("a/x.py"), part("a/y.py")))
ALL = engaged("a/x.py", "a/y.py")
WRONG = {"path": "a/x.py", "line": 3, "why": "it is wrong", "how_to_tell": "call it with 0"}


def weighed(
    said: Verdict | Unreadable, read: Engagement = ALL, chunk: Chunk = CHUNK, **more: Any
) -> Count:
    answered = {one.id: one for one in more.pop("answered", ())}
    family = more.pop("family", "claude")
    terms = Terms(**{"families": DUAL, **more})
    return weigh(said, read, chunk, family=family, terms=terms, answered=answered)


def test_an_approval_without_blockers_is_clean():
    assert weighed(verdict()).kind == "clean"


def test_an_approval_of_low_confidence_is_clean_all_the_same():
    assert weighed(verdict(confidence="low")).kind == "clean"


def test_a_rejection_with_a_blocker_sends_a_fixer():
    count = weighed(verdict(approved=False, blockers=[WRONG]))

    assert count.kind == "blocked"
    assert [one.line for one in count.blockers] == [3]


def test_blockers_count_whatever_the_approval_beside_them_says():
    count = weighed(verdict(approved=True, blockers=[WRONG]))

    assert count.kind == "blocked"
    assert "approved, with blockers" in count.reason


@pytest.mark.parametrize("confidence", ["low", "LOW", 0.3, 0])
def test_c7_a_rejection_of_low_confidence_sends_no_fixer_and_is_no_clean_pass(confidence: Any):
    said = verdict(approved=False, confidence=confidence, blockers=[WRONG])

    assert weighed(said).kind == "unsure"


@pytest.mark.parametrize("confidence", ["medium", "high", 0.5, 1])
def test_a_rejection_of_more_confidence_sends_one(confidence: Any):
    said = verdict(approved=False, confidence=confidence, blockers=[WRONG])

    assert weighed(said).kind == "blocked"


def test_a_rejection_that_names_nothing_is_no_clean_pass_and_no_work():
    assert weighed(verdict(approved=False)).kind == "unsure"


@pytest.mark.parametrize("family", ["gpt", "gemini", "both", ""])
def test_t12_a_verdict_of_a_family_that_was_not_asked_counts_for_nothing(family: str):
    assert weighed(verdict(family=family)).kind == "void"


def test_t12_a_family_that_is_not_of_this_review_counts_for_nothing():
    assert weighed(verdict(), families=("gpt",)).kind == "void"


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "looks good",
        "[]",
        "null",
        "{}",
        "[" * 100_000,
        '{"family": "claude", "approved": "yes"}',
        '{"family": "claude", "approved": 1}',
        '{"family": "claude", "approved": true, "confidence": "certain"}',
        '{"family": "claude", "approved": true, "confidence": true}',
        '{"family": "claude", "approved": true, "confidence": 1.5}',
        '{"family": "claude", "approved": true, "confidence": NaN}',
        '{"family": "claude", "approved": true, "verdict": "maybe"}',
        '{"family": "claude", "approved": true, "blockers": [{"path": "a/x.py", "line": 0, "why": "x"}]}',
        b"\xff\xfe",
    ],
)
def test_t12_c7_what_is_no_verdict_counts_for_nothing_and_says_why(answer: str | bytes):
    said = read_verdict(answer)

    assert isinstance(said, Unreadable)
    assert weighed(said).kind == "void"
    assert said.why in weighed(said).reason


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*Verdict.model_fields, "x"]), inner, max_size=6), max_leaves=12))  # fmt: skip
def test_no_answer_at_all_breaks_the_reading_of_it(answer: object):
    assert isinstance(read_verdict(answer), Verdict | Unreadable)


def test_a_verdict_is_read_from_json_and_from_the_arguments_of_a_tool_call():
    said = {"family": "claude", "approved": True, "confidence": 0.9}

    assert read_verdict(said) == read_verdict(verdict(confidence="high").to_json())


class TestEngagement:
    def test_a_look_at_one_file_of_the_chunk_is_engaged(self):
        assert weighed(verdict(), engaged("a/x.py")).kind == "clean"

    @pytest.mark.parametrize("read", [(), ("b/z.py",)])
    def test_a_reviewer_that_opened_no_file_of_the_chunk_did_not_look(self, read: tuple[str, ...]):
        assert weighed(verdict(), engaged(*read)).kind == "void"

    def test_c5_files_it_claims_and_never_opened_make_it_count_for_nothing(self):
        said = verdict(files_reviewed=["a/x.py", "a/y.py"])

        count = weighed(said, engaged("a/x.py"))

        assert (count.kind, "a/y.py" in count.reason) == ("void", True)
        assert weighed(said, ALL).kind == "clean"

    @pytest.mark.parametrize(
        "said",
        [
            {"files_reviewed": ["a/x.py", "a/made_up.py"]},
            {"blockers": [{**WRONG, "path": "b/z.py"}], "approved": False},
            {"notes": [{"path": "b/z.py", "what": "hm"}]},
        ],
    )
    def test_what_it_cites_has_to_be_in_the_chunk(self, said: dict[str, Any]):
        read = engaged("a/x.py", "a/y.py", "a/made_up.py", "b/z.py")

        assert weighed(verdict(**said), read).kind == "void"

    def test_full_coverage_demands_every_line_and_names_the_first_gap(self):
        half = Engagement(
            seen=(
                Shown(path="a/x.py", first=1, last=4),
                Shown(path="a/x.py", first=6, last=10, ends=True),
            )
        )
        only = Chunk("a", (part("a/x.py"),))

        count = weighed(verdict(), half, only, coverage="full")

        assert (count.kind, count.not_shown) == ("unsure", ("a/x.py:5-",))
        assert weighed(verdict(), half, only).kind == "clean"

    def test_full_coverage_is_reached_by_stretches_in_any_order(self):
        read = Engagement(
            seen=tuple(
                Shown(path="a/x.py", first=first, last=last, ends=last == 10)
                for first, last in ((6, 10), (1, 3), (2, 5))
            )
        )
        only = Chunk("a", (part("a/x.py"),))

        assert weighed(verdict(), read, only, coverage="full").kind == "clean"

    def test_of_a_part_its_own_lines_are_demanded(self):
        middle = Chunk("a", (part("a/x.py", first=5, last=8),))
        read = Engagement(seen=(Shown(path="a/x.py", first=5, last=8),))
        less = Engagement(seen=(Shown(path="a/x.py", first=5, last=7),))

        assert weighed(verdict(), read, middle, coverage="full").kind == "clean"
        assert weighed(verdict(), less, middle, coverage="full").not_shown == ("a/x.py:8-8",)

    def test_a_look_that_did_not_come_to_the_end_of_a_file_did_not_see_all_of_it(self):
        read = Engagement(seen=(Shown(path="a/x.py", first=1, last=10),))

        only = Chunk("a", (part("a/x.py"),))

        assert weighed(verdict(), read, only, coverage="full").not_shown == ("a/x.py:11-",)

    def test_an_empty_file_needs_no_look(self):
        chunk = Chunk("a", (part("a/x.py"), part("a/__init__.py")._replace(bytes=0)))

        assert weighed(verdict(), engaged("a/x.py"), chunk, coverage="full").kind == "clean"


class TestCaps:
    def test_t06_c6_what_a_cap_cut_is_listed_and_blocks_clean(self):
        read = ALL.model_copy(update={"cut": ("a/y.py:8-10",)})

        count = weighed(verdict(), read)

        assert (count.kind, count.not_shown) == ("unsure", ("a/y.py:8-10",))

    def test_t06_inline_every_byte_of_the_chunk_has_to_be_in_the_prompt(self):
        assert weighed(verdict(), ALL, context_mode="inline").kind == "clean"
        assert weighed(verdict(), engaged("a/x.py"), context_mode="inline").not_shown == (
            "a/y.py:1-",
        )

    def test_a_blocker_in_what_was_shown_counts_whatever_was_not(self):
        read = ALL.model_copy(update={"cut": ("a/y.py:8-10",)})

        assert weighed(verdict(approved=False, blockers=[WRONG]), read).kind == "blocked"


class TestAxis:
    NOTE = {"path": "a/y.py", "line": 7, "what": "a retry by hand", "on_axis": True}

    def test_t11_an_instance_of_the_axis_filed_as_a_note_is_work(self):
        count = weighed(verdict(notes=[self.NOTE]), axis="converge retries")

        assert count.kind == "blocked"
        assert [(one.path, one.line, one.why) for one in count.blockers] == [
            ("a/y.py", 7, "a retry by hand")
        ]

    def test_t11_one_without_a_place_is_work_too(self):
        count = weighed(verdict(notes=[{**self.NOTE, "path": ""}]), axis="converge retries")

        assert count.kind == "blocked"

    def test_a_note_beside_the_axis_is_a_note(self):
        beside = {**self.NOTE, "on_axis": False}

        assert weighed(verdict(notes=[beside]), axis="converge retries").kind == "clean"

    def test_without_an_axis_a_note_is_a_note(self):
        assert weighed(verdict(notes=[self.NOTE])).kind == "clean"


class TestAnswered:
    ANSWER = Pushback(blocker=blocker("a/x.py:3"), blob="a/x.py@1", why="0 cannot come here")

    def test_t15_a_finding_that_was_answered_is_not_raised_again_without_new_evidence(self):
        count = weighed(verdict(approved=False, blockers=[WRONG]), answered=[self.ANSWER])

        assert (count.kind, len(count.repeated), count.blockers) == ("clean", 1, ())

    def test_with_new_evidence_it_is(self):
        again = {**WRONG, "new_evidence": "b/z.py:9 passes 0"}

        count = weighed(verdict(approved=False, blockers=[again]), answered=[self.ANSWER])

        assert count.kind == "blocked"

    def test_the_evidence_that_was_answered_is_not_new(self):
        said = self.ANSWER.blocker.model_copy(update={"new_evidence": "z.py passes 0"})
        answer = self.ANSWER.model_copy(update={"blocker": said})
        again = {**WRONG, "new_evidence": " z.py passes 0 "}

        count = weighed(verdict(approved=False, blockers=[again]), answered=[answer])

        assert count.kind == "clean"

    def test_an_answer_is_about_one_content(self):
        other = self.ANSWER.model_copy(update={"blob": "a/x.py@2"})

        count = weighed(verdict(approved=False, blockers=[WRONG]), answered=[other])

        assert count.kind == "blocked"

    def test_another_finding_beside_it_counts(self):
        other = {**WRONG, "line": 4}

        count = weighed(verdict(approved=False, blockers=[WRONG, other]), answered=[self.ANSWER])

        assert (count.kind, [one.line for one in count.blockers]) == ("blocked", [4])

    def test_an_answer_does_not_show_what_was_cut(self):
        read = ALL.model_copy(update={"cut": ("a/y.py:8-10",)})

        count = weighed(verdict(approved=False, blockers=[WRONG]), read, answered=[self.ANSWER])

        assert count.kind == "unsure"
