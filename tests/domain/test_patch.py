"""Patches are applied exactly, or not at all."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.patch import PatchRefused, parse_patch, patched

TEXT = "def first():\n    return 1\n\n\ndef second():\n    return 1\n"


def apply(body, **texts):
    return patched(parse_patch(f"*** Begin Patch\n{body}\n*** End Patch"), texts)


def test_an_anchor_says_which_of_two_places_is_meant():
    done = apply("*** Update File: a\n@@ def second():\n-    return 1\n+    return 2", a=TEXT)
    assert done == {"a": TEXT[:-2] + "2\n"}


def test_lines_around_say_it_too():
    done = apply("*** Update File: a\n def second():\n-    return 1\n+    return 2", a=TEXT)
    assert done == {"a": TEXT[:-2] + "2\n"}


def test_several_changes_go_from_top_to_bottom():
    body = (
        "*** Update File: a\n@@ def first():\n-    return 1\n+    return 1\n+    # one\n"
        "@@ def second():\n-    return 1\n+    return 2"
    )
    assert apply(body, a=TEXT)["a"].splitlines() == [
        "def first():",
        "    return 1",
        "    # one",
        "",
        "",
        "def second():",
        "    return 2",
    ]


def test_files_are_added_updated_and_deleted_together():
    body = "*** Add File: n\n+one\n+\n*** Update File: a\n-x\n+y\n*** Delete File: b"
    assert apply(body, a="x\n", b="gone\n") == {"n": "one\n\n", "a": "y\n", "b": None}


def test_the_end_of_a_file_can_be_meant():
    body = "*** Update File: a\n-x\n+y\n*** End of File"
    assert apply(body, a="x\nx\n") == {"a": "x\ny\n"}
    assert apply(body, a="x\nx") == {"a": "x\ny"}


def test_an_empty_line_of_context_may_have_lost_its_space():
    done = apply("*** Update File: a\n     return 1\n\n\n-def second():\n+def other():", a=TEXT)
    assert "def other():" in done["a"]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("*** Update File: a\n-    return 1\n+    return 2", "stand 2 times (lines 2, 6)"),
        ("*** Update File: a\n-    return 3\n+    return 2", "do not stand there"),
        ("*** Update File: a\n-   return 1\n+    return 2", "do not stand there"),
        ("*** Update File: a\n@@ def third():\n-    return 1\n+x", "no line 'def third():'"),
        ("*** Update File: a\n@@ def second():\n-def first():\n+x", "do not stand there"),
        ("*** Update File: a\n+x", "nothing says where"),
        ("*** Update File: a\n     return 1", "changes nothing"),
        ("*** Update File: a\n~x", "begins with"),
        ("*** Update File: b\n-x\n+y", "'b' does not exist"),
        ("*** Delete File: b", "'b' does not exist"),
        ("*** Add File: a\n+x", "'a' is there already"),
        ("*** Add File: n\nx", "begins with '+'"),
        ("*** Delete File: a\n*** Delete File: a", "twice"),
        ("*** Update File: a\n*** Move to: b\n-x\n+y", "moved with git"),
        ("x", "before the first file"),
        ("", "names no file"),
    ],
)
def test_what_is_not_sure_is_refused(body, why):
    with pytest.raises(PatchRefused) as caught:
        apply(body, a=TEXT)
    assert why in str(caught.value)


def test_a_patch_has_a_beginning_and_an_end():
    for text in ("", "*** Begin Patch\n*** Delete File: a", "--- a\n+++ b\n"):
        with pytest.raises(PatchRefused, match="begins with"):
            parse_patch(text)


LINES = st.lists(st.sampled_from(["a", "b", "  c", "", "d = 1"]), min_size=1, max_size=8)


@given(before=LINES, at=st.integers(0, 7), size=st.integers(1, 3), after=LINES)
def test_what_is_applied_is_what_was_said_and_nothing_else(before, at, size, after):
    """Whatever the file: either it is refused, or exactly the given lines were replaced, once."""
    at %= len(before)
    old = before[at : at + size]
    body = "\n".join(["*** Update File: a", *(f"-{x}" for x in old), *(f"+{x}" for x in after)])
    try:
        text = apply(body, a="\n".join(before))["a"]
    except PatchRefused:
        places = [n for n in range(len(before) - len(old) + 1) if before[n : n + len(old)] == old]
        assert len(places) > 1 or old == after
    else:
        assert text.split("\n") == before[:at] + after + before[at + size :]
