import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from domain.axis import (
    AstGrep,
    Axis,
    Catalogue,
    CatalogueEntry,
    Commands,
    Ruff,
    Sentence,
    for_codemod,
    parse_axis,
    slug,
    title,
)
from domain.value import Refused

CATALOGUE = {
    "pathlib": CatalogueEntry(name="pathlib", sentence="Paths.", engine=Ruff(select="PTH")),
    "once": CatalogueEntry(name="once", sentence="Once.", engine=AstGrep(rule="id: once\n")),
}
AXIS = TypeAdapter[Axis](Axis)


@pytest.mark.parametrize(
    ("typed", "axis"),
    [
        ("pathlib", Catalogue(name="pathlib")),
        ("ruff:UP,C4", Ruff(select="UP,C4")),
        ("ruff: up, c4, up", Ruff(select="UP,C4")),
        ("ast-grep:rules/x.yml", AstGrep(rule="rules/x.yml")),
        ("cmd:./find.sh a => ./edit.sh", Commands(find="./find.sh a", edit="./edit.sh")),
        ("split every file  over 600 lines", Sentence(text="split every file over 600 lines")),
    ],
)
def test_an_axis_is_known_by_how_it_is_typed(typed: str, axis: Axis):
    assert parse_axis(typed, CATALOGUE) == axis


@pytest.mark.parametrize(
    "typed", ["--upload-pack=x", "HEAD", "a/$(id)", "x.lock", "../x", "", "-a b"]
)
def test_a_name_that_git_or_a_shell_would_act_on_is_no_axis(typed: str):
    with pytest.raises(Refused, match=re.escape(f"no axis {typed!r}.")):
        parse_axis(typed, CATALOGUE)


@pytest.mark.parametrize(
    "typed",
    [
        "ruff:--fix",
        "ruff:",
        "ruff:UP,,C4",
        "ruff:UP;id",
        "ast-grep:-x.yml",
        "ast-grep:x",
        "cmd:a",
        "cmd:a => ",
    ],
)
def test_a_half_said_axis_is_refused_with_an_example(typed: str):
    with pytest.raises(Refused, match=r"ruff:UP|no-print\.yml|find\.sh"):
        parse_axis(typed, CATALOGUE)


def test_a_misspelt_name_is_told_the_one_that_was_meant():
    with pytest.raises(
        Refused, match=r"no axis 'pathlb'\. Did you mean 'pathlib'\? Known: once, pathlib\."
    ):
        parse_axis("pathlb", CATALOGUE)


def test_text_that_cannot_be_printed_is_refused():
    with pytest.raises(Refused, match="cannot be printed"):
        parse_axis("split\x00 files", CATALOGUE)


def test_unsafe_opens_a_ruff_axis_of_the_catalogue_and_no_other():
    assert parse_axis("pathlib", CATALOGUE, unsafe=True) == Ruff(select="PTH", unsafe=True)
    with pytest.raises(Refused, match="no ruff axis"):
        parse_axis("once", CATALOGUE, unsafe=True)


def test_a_sentence_needs_a_model_and_a_rule_does_not():
    assert for_codemod(Catalogue(name="pathlib"), CATALOGUE) == Ruff(select="PTH")
    assert for_codemod(Ruff(select="UP"), {}) == Ruff(select="UP")
    with pytest.raises(Refused, match="is a sentence, and the codemod executor only applies rules"):
        for_codemod(Sentence(text="split files"), CATALOGUE)
    with pytest.raises(Refused, match="no axis 'gone'"):
        for_codemod(Catalogue(name="gone"), CATALOGUE)


@pytest.mark.parametrize(
    ("axis", "name"),
    [
        (Catalogue(name="pathlib"), "pathlib"),
        (Ruff(select="UP,C4"), "ruff-up-c4"),
        (Ruff(select="UP", unsafe=True), "ruff-up-unsafe"),
    ],
)
def test_a_short_name_is_its_own_slug(axis: Axis, name: str):
    assert slug(axis) == name


def test_axes_that_read_alike_have_slugs_of_their_own():
    assert slug(Sentence(text="split files")) != slug(Sentence(text="split: files"))
    assert slug(AstGrep(rule="id: x\nfix: a\n")) != slug(AstGrep(rule="id: x\nfix: b\n"))
    assert slug(Sentence(text="split files")) == slug(Sentence(text="split files"))


AXES = st.one_of(
    st.builds(Sentence, text=st.text(min_size=1)),
    st.builds(AstGrep, rule=st.text(min_size=1)),
    st.builds(Commands, find=st.text(min_size=1), edit=st.text(min_size=1)),
    st.builds(Ruff, select=st.from_regex(r"[A-Z]+[0-9]*(,[A-Z]+[0-9]*){0,30}", fullmatch=True)),
    st.sampled_from(["x.lock", "../x", "HEAD", "--upload-pack=x", "a..b", "."]).map(
        lambda text: Sentence(text=text)
    ),
)


@given(axis=AXES)
def test_every_slug_is_a_safe_part_of_a_branch_name(axis: Axis):
    name = slug(axis)

    assert re.fullmatch(r"[a-z0-9][a-z0-9._-]*", name)
    assert len(name) <= 60
    assert ".." not in name
    assert not name.endswith((".lock", "."))


@example(axis=AstGrep(rule=" "))
@given(axis=AXES)
def test_every_title_is_one_line(axis: Axis):
    assert "\n" not in title(axis)
    assert len(title(axis)) <= 80 + len(" (unsafe fixes too)")


def test_the_form_shows_tabs_with_titles_and_takes_its_own_answer():
    schema = AXIS.json_schema()

    assert {"anyOf"} == schema.keys() - {"$defs"}
    assert {part["title"] for part in schema["$defs"].values()} >= {"Ruff rules", "A sentence"}
    assert AXIS.validate_python({"kind": "ruff", "select": "UP"}) == Ruff(select="UP")
    assert AXIS.validate_python({"kind": "cmd", "find": "a", "edit": "b"}) == Commands(
        find="a", edit="b"
    )


@pytest.mark.parametrize(
    "form",
    [
        {"kind": "ruff", "select": "--fix"},
        {"kind": "catalogue", "name": "../x"},
        {"kind": "sentence", "text": ""},
    ],
)
def test_the_form_refuses_what_the_command_line_refuses(form: dict[str, str]):
    with pytest.raises(ValidationError):
        AXIS.validate_python(form)
