"""The run forms of the flows can be filled in without documentation: titles, help, menus, nothing but values."""

import json

import pytest
from prefect.utilities.schema_tools.validation import validate

from adapters.catalogue import read_catalogue
from cli.loading import flow_at
from cli.wording import form_of

FLOWS = (
    "flows.campaign.campaign",
    "flows.review_loop.review_loop",
    "flows.axis_sweep.axis_sweep",
    "flows.unit_loop.unit_loop",
    "flows.work_list.work_list",
)


@pytest.fixture(scope="module", params=FLOWS, name="form")
def _form(request: pytest.FixtureRequest):
    return form_of(flow_at(request.param))


@pytest.fixture(scope="module", name="campaign")
def _campaign():
    return form_of(flow_at(FLOWS[0]))


def fields(form):
    """Every field of the form, with its place."""
    for name, field in form["properties"].items():
        yield name, field
    for group, content in form["definitions"].items():
        for name, field in content["properties"].items():
            yield f"{group}.{name}", field


def test_every_field_has_a_title_in_words_and_says_what_it_is_for(form):
    for place, field in fields(form):
        name = place.rpartition(".")[2]
        assert field["title"] != name, place
        assert "_" not in field["title"], place
        assert field["title"][0].isupper(), place
        assert len(field.get("description", "")) > 10, place
        assert field["description"].endswith("."), place


def test_alternatives_are_tabs_with_a_name_each(form):
    """`oneOf` is raw JSON in one of the UIs, and the tab of a null is called `None`."""
    assert "oneOf" not in json.dumps(form)
    for place, field in fields(form):
        for one in field.get("anyOf", ()):
            group = form["definitions"].get(one.get("$ref", "").rpartition("/")[2], one)
            assert " " in group["title"], place


def test_a_field_that_may_be_empty_is_one_box(form):
    for place, field in fields(form):
        assert "type" in field or "$ref" in field or "anyOf" in field or "const" in field, place
        assert all("$ref" in one or one["type"] == "null" for one in field.get("anyOf", ())), place
        assert "" not in field.get("enum", ()), place


def test_what_an_engine_fills_in_is_not_asked_for(form):
    assert "run" not in form["properties"]


def test_the_first_question_is_the_axis_and_the_last_the_target(form):
    positions = [field["position"] for field in form["properties"].values()]
    names = list(form["properties"])

    assert positions == sorted(positions)
    assert (names[0], names[-1]) == ("axis", "target")


def test_the_catalogue_is_a_menu(campaign):
    assert campaign["definitions"]["Catalogue"]["properties"]["name"]["enum"] == [*read_catalogue()]


ASKED = {
    "nothing but an axis": {"axis": {"kind": "ruff", "select": "UP"}},
    "a name of the catalogue": {"axis": {"kind": "catalogue", "name": "pyupgrade"}},
    "a budget": {"axis": {"kind": "sentence", "text": "Be brief"}, "budget": {"max_usd": 3, "max_minutes": None}},
    "a model": {"axis": {"kind": "sentence", "text": "Be brief"}, "hired": {"family": "gpt", "effort": "low"}},
    "no target": {"axis": {"kind": "ruff", "select": "UP"}, "target": None},
}  # fmt: skip
WRONG = {
    "no axis": {},
    "no name of the catalogue": {"axis": {"kind": "catalogue", "name": "pyupgrate"}},
    "no money": {"axis": {"kind": "ruff", "select": "UP"}, "budget": {"max_usd": 0}},
    "no family": {"axis": {"kind": "sentence", "text": "Be brief"}, "hired": {"family": "ruff"}},
    "an id of a run": {"axis": {"kind": "ruff", "select": "UP"}, "budget": {"run": "1"}},
}


@pytest.mark.parametrize("asked", ASKED)
def test_what_the_form_takes_the_flow_takes(campaign, asked):
    assert validate(ASKED[asked], campaign) == []
    flow_at(FLOWS[0]).validate_parameters(ASKED[asked])


@pytest.mark.parametrize("asked", WRONG)
def test_what_is_wrong_is_told_by_the_form(campaign, asked):
    assert validate(WRONG[asked], campaign)
