import re
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from domain.message import MAX_BODY, MAX_SUBJECT, clean, compose, printable, tame


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("a\x00b\x07c", "abc"),
        ("\x1b[31mred\x1b[0m \x1b]0;title\x07end", "red end"),
        ("\x9b31mred", "red"),
        ("cr\r\nlf\rend", "cr\nlf\nend"),
        ("para\u2029graph\x85end", "para\ngraph\nend"),
        ("bidi \u202etxt\u202c zero\u200bwidth", "bidi txt zerowidth"),
        ("tab\tand é 日本 stay", "tab\tand é 日本 stay"),
        ("lone \udcff", "lone ?"),
    ],
)
def test_what_a_terminal_would_act_on_goes(text, seen):
    assert printable(text) == seen


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("[skip ci]", "(skip ci)"),
        ("[CI  Skip] x", "(CI  Skip) x"),
        ("[skip\u200b ci]", "(skip ci)"),
        ("***NO_CI***", "(NO_CI)"),
        ("[skip netlify] [no ci] [actions skip]", "(skip netlify) (no ci) (actions skip)"),
        ("Closes #1", "(Closes) #1"),
        ("fixes: owner/repo#12", "(fixes): owner/repo#12"),
        ("Resolves issue #3", "(Resolves) issue #3"),
        ("fixed https://example.com/issues/3", "(fixed) https://example.com/issues/3"),
        ("implements !4", "(implements) !4"),
        ("close GH-5", "(close) GH-5"),
        ("Fix UP032 in a.py:2: use f-string", "Fix UP032 in a.py:2: use f-string"),
        ("fix utf-8 handling of list[no index]", "fix utf-8 handling of list[no index]"),
        ("closes the file", "closes the file"),
    ],
)
def test_words_that_ci_or_a_forge_acts_on_lose_their_effect_and_others_stay(text, seen):
    assert tame(text) == seen


@pytest.mark.parametrize(
    "line",
    [
        "Signed-off-by: A <a@example.com>", "Signed-off-by:A", "signed-off-by : A", "Co-authored-by: x", "Swathe-Gate: alone",
        "skip-checks: true", "1-x: y", "-x: y", "(cherry picked from commit abc)", "---", "--- a/x", "diff --git a/x b/x",
        "Index: x",
    ],
)  # fmt: skip
def test_a_line_that_acts_is_quoted(line):
    _, body = clean(f"Fix it\n\n{line}\n\nmore")

    assert f"> {line}" in body.split("\n")


@pytest.mark.parametrize(
    "line",
    [
        "plain words",
        "https://example.com/x",
        "a sentence: with a colon",
        "- a list",
        "----",
        "  Key: indented",
    ],
)
def test_a_line_that_does_not_act_stays(line):
    assert line.strip() in clean(f"Fix it\n\nfirst\n{line}\nmore")[1]
    assert f"> {line}" not in clean(f"Fix it\n\nfirst\n{line}\nmore")[1]


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("", "Change"),
        ("\n \n", "Change"),
        ("---", "Change"),
        ("--amend", "amend"),
        ("fix: one: two", "fix: one: two"),
        ('Say "it\'s" $(so) `now`', 'Say "it\'s" $(so) `now`'),
        ("Signed-off-by: x", "> Signed-off-by: x"),
        ("reviewed-by :x", "> reviewed-by :x"),
        ("\n\n  Fix it  \n", "Fix it"),
    ],
)
def test_a_subject_survives_or_is_made(text, subject):
    """T47."""
    assert clean(text)[0] == subject


def test_long_texts_are_cut():
    subject, body = clean("s" * 1_000 + "\n\n" + "b " * 1_000_000)

    assert (len(subject), subject[-1]) == (MAX_SUBJECT, "…")
    assert len(body) <= MAX_BODY
    assert clean("s" * MAX_SUBJECT)[0] == "s" * MAX_SUBJECT


def test_a_message_is_subject_body_and_trailers():
    assert (
        compose("Fix", "why", {"A": "1", "B": "two\nlines", "C": ""})
        == "Fix\n\nwhy\n\nA: 1\nB: two lines\n"
    )
    assert compose("Fix", "", {"A": "1"}) == "Fix\n\nA: 1\n"
    assert compose("Fix", "", {}) == "Fix\n"


def test_a_trailers_value_cannot_act():
    assert (
        compose("Fix", "", {"Swathe-Site": "[skip ci]\x1b[0m.py"})
        == "Fix\n\nSwathe-Site: (skip ci).py\n"
    )


NASTY = st.lists(
    st.one_of(
        st.text(max_size=12),
        st.sampled_from(
            ["\n", "\n\n", "Signed-off-by: x", "Reviewed-by:y", "---", "[skip ci]", "[skip ", "ci]", "\r", "\x1b", "\u2028", ": ",
             "Closes #1", "Closes ", "#1", "\u200b", "-", "Swathe-Gate: alone", "(cherry picked from commit 1)", " "]
        ),
    ),
    max_size=14,
).map("".join)  # fmt: skip


def parsed(message: str) -> list[str]:
    """Trailers as git finds them: in the last paragraph above a divider, but for the first one."""
    text = re.split(r"^---(?:\s|$)", message, maxsplit=1, flags=re.MULTILINE)[0]
    paragraphs = [part for part in re.split(r"\n[ \t]*\n", text.strip("\n")) if part.strip()]
    if len(paragraphs) < 2:
        return []
    return [
        row
        for row in paragraphs[-1].split("\n")
        if re.match(r"[A-Za-z0-9-]+[ \t]*:(?!//)[ \t]*\S|\(cherry picked from", row)
    ]


@example("0\n Signed-off-by: x")
@given(NASTY)
def test_no_text_lets_a_trailer_through(text):
    """Law."""
    assert parsed(compose(*clean(text), {})) == []
    assert parsed(compose(*clean(text), {"Swathe-Run": "r1"})) == ["Swathe-Run: r1"]


@given(NASTY)
def test_no_text_brings_anything_that_acts(text):
    """Law: not what CI reads, nor a forge, nor a terminal; and a commit can be made of it."""
    subject, body = clean(text)
    message = compose(subject, body, {})

    assert subject
    assert "\n" not in subject
    assert len(subject) <= MAX_SUBJECT + 2
    assert not subject.startswith("-")
    assert not re.search(r"\[(skip|no) ci\]|\[ci skip\]", message, re.IGNORECASE)
    assert not re.search(r"\b(close|fixe|resolve)[sd]?:? +#\d", message, re.IGNORECASE)
    assert not {unicodedata.category(c) for c in message if c not in "\n\t"} & {"Cc", "Cf", "Cs"}
    message.encode()


@given(NASTY)
def test_cleaning_what_is_clean_brings_nothing_new_that_acts(text):
    subject, body = clean(text)
    again = clean(f"{subject}\n\n{body}")

    assert parsed(compose(*again, {})) == []
