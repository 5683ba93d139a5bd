"""What the operator says to a run, and what it adds up to."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.budget import Budget
from domain.ledger import Caps
from domain.value import Refused
from domain.word import Raise, Said, Word, variable, variables_page, words_in

AMOUNTS = st.none() | st.integers(1, 100)


@given(st.lists(AMOUNTS), AMOUNTS)
def test_a_budget_is_raised_and_never_lowered(said, given_usd):
    words = [Word(id=str(n), max_usd=usd) for n, usd in enumerate(said) if usd]

    now = Said.of(words).raised.budget(Budget(max_usd=given_usd)).max_usd

    if given_usd is None:
        assert now is None, "where there is no cap, none comes of it"
    else:
        assert now == max([given_usd, *filter(None, said)])


def test_what_is_kept_back_for_a_reader_is_kept_back_of_the_higher_cap_too():
    assert Raise(max_usd=10).caps(Caps(max_usd=0.85), kept_back=0.15).max_usd == 8.5
    assert Raise(max_minutes=10).caps(Caps(max_usd=0.85)).max_usd == 0.85


def test_sentences_keep_their_order_and_enough_is_enough():
    said = Said.of(
        [Word(id="1", tell="first"), Word(id="2", enough=True), Word(id="3", tell="second")]
    )

    assert (said.enough, said.told) == (True, {"1": "first", "3": "second"})
    assert not Said.of([]).enough


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"enough": True}, ["enough"]),
        ('{"enough": true}', ["enough"]),
        ("enough", ["enough"]),
        ([{"max_usd": 5}, {"tell": "leave b.py"}], ["the budget is raised to usd 5", "to the model: leave b.py"]),
        ({"max_minutes": 90, "max_passes": 4}, ["the budget is raised to minutes 90, passes 4"]),
    ],
)  # fmt: skip
def test_a_variable_says_what_a_person_wrote(value, words):
    assert [word.words for word in words_in(value, "v")] == words


@pytest.mark.parametrize(
    "value", ["stop!", {"enogh": True}, {}, {"enough": False}, {"max_usd": -1}, 7, [["enough"]]]
)
def test_a_variable_that_cannot_be_read_says_what_could(value):
    with pytest.raises(Refused, match="As in"):
        words_in(value, "v")


def test_a_word_of_a_variable_is_the_same_however_often_it_is_read():
    [first] = words_in({"tell": "now"}, "v")

    assert words_in(json.dumps({"tell": "now"}), "v") == (first,)
    assert words_in({"tell": "now"}, "another one") != (first,)
    assert words_in({"tell": "then"}, "v") != (first,)
    assert words_in(first.model_dump(exclude_defaults=True), "another one") == (first,)


@given(st.text(min_size=1))
def test_a_variable_has_a_name_that_prefect_allows(pool):
    assert not set(variable(pool)) - set("abcdefghijklmnopqrstuvwxyz0123456789_")


@pytest.mark.parametrize("path", ["flow-runs/flow-run/1-2", "runs/flow-run/1-2"])
def test_a_variable_is_made_on_a_page_beside_the_runs(path):
    assert variables_page(f"http://127.0.0.1:4200/{path}") == "http://127.0.0.1:4200/variables"
    assert not variables_page("")


def test_a_variable_is_named_after_its_pool():
    assert variable("Acme-API") == "swathe_acme_api"
