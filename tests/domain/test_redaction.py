"""No known secret is read out of what we write, in whatever form it went in; and nothing else is touched."""

import base64
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.redaction import MARK, Redactor, secrets_in

SECRET = "sk-ant-0123456789abcdefXYZ+/="
REDACTOR = Redactor(secrets=(SECRET,))

FORMS = {
    "plain": SECRET,
    "in a URL": f"https://user:{quote(SECRET, safe='')}@host/",
    "base64": base64.b64encode(SECRET.encode()).decode(),
    "base64 behind one byte": base64.b64encode(b"x" + SECRET.encode()).decode(),
    "base64 behind two bytes": base64.b64encode(b"xy" + SECRET.encode() + b"z").decode(),
    "base64 for URLs": base64.urlsafe_b64encode(SECRET.encode()).decode(),
    "hex": SECRET.encode().hex(),
    "HEX": SECRET.encode().hex().upper(),
    "upper case": SECRET.upper(),
    "reversed": SECRET[::-1],
    "split by a colour": SECRET[:9] + "\x1b[31m" + SECRET[9:],
    "split by a line break": SECRET[:5] + "\n" + SECRET[5:],
    "spaced out": " ".join(SECRET),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_secret_is_taken_out_in_the_form(form):
    cleaned = REDACTOR.clean(f"before {FORMS[form]} after")

    assert MARK in cleaned
    assert cleaned.startswith("before ")
    assert cleaned.endswith(" after")
    assert SECRET[4:14] not in cleaned


@given(text=st.text(max_size=200))
def test_text_without_a_secret_stays_as_it_is(text):
    if SECRET.lower() not in text.lower():
        assert REDACTOR.clean(text) == text


@given(before=st.binary(max_size=9), after=st.binary(max_size=9))
def test_base64_gives_nothing_away_whatever_stands_around_the_secret(before, after):
    shown = base64.b64encode(before + SECRET.encode() + after).decode()

    assert MARK in REDACTOR.clean(shown)


def test_names_say_which_variables_are_secret():
    found = secrets_in(
        {
            "ANTHROPIC_API_KEY": "a" * 20,
            "GITHUB_TOKEN": "b" * 20,
            "DB_PASSWORD": "c" * 20,
            "AWS_SECRET_ACCESS_KEY": "d" * 20,
            "PATH": "/usr/bin:/usr/local/bin",
            "KEYBOARD_LAYOUT": "e" * 20,
            "MONKEY": "f" * 20,
            "SHORT_TOKEN": "1234",
        }
    )

    assert found == ("a" * 20, "b" * 20, "c" * 20, "d" * 20)


def test_without_secrets_nothing_is_touched():
    assert Redactor().clean(SECRET) == SECRET


def test_words_and_numbers_are_no_secrets_whatever_their_name_says():
    """They stand in paths and subjects by chance: `[redacted].py` would tell nobody anything."""
    words = {
        "POSTGRES_PASSWORD": "postgres",
        "STAGE_KEY": "production",
        "MAX_TOKENS": "100000000",
        "SITE_SECRET": "CHANGEME",
    }
    secrets = {"A_PASSWORD": "correcthorsebatterystaple", "B_TOKEN": "postgres1", "C_KEY": "1" * 20}

    assert secrets_in(words) == ()
    assert set(secrets_in(secrets)) == set(secrets.values())


@given(text=st.text(max_size=60), at=st.integers(0, 60))
def test_what_is_cleaned_is_found_first(text, at):
    assert REDACTOR.finds(text[:at] + SECRET + text[at:])
