"""What a review is asked for, and the terms it comes to."""

import pytest

from domain.axis import Sentence
from domain.hired import Hired
from domain.review_options import FREE_PASSES, ReviewSettings, review_slug
from domain.reviewers import Reviewer, chosen
from domain.value import Refused

RULES = (Reviewer(family="ruff"), Reviewer(family="ast-grep"))
MODELS = tuple(Reviewer(family=name, hired=Hired(family=name)) for name in ("claude", "gpt"))


def choose(*asked: Hired, keys: tuple[str, ...] = (), mode: str = "dual", only_rules: bool = False):
    return chosen(
        asked, rules=("ruff", "ast-grep"), with_key=keys, only_rules=only_rules, mode=mode
    )


@pytest.mark.parametrize(
    ("asked", "keys", "only_rules", "families"),
    [
        ((), (), False, ["ruff", "ast-grep"]),
        ((), ("claude", "gpt"), False, ["claude", "gpt"]),
        ((), ("gpt",), False, ["gpt"]),
        ((), ("claude", "gpt"), True, ["ruff", "ast-grep"]),
        ((Hired(family="gpt"),), ("claude", "gpt"), False, ["gpt"]),
    ],
)
def test_who_reviews_is_who_was_asked_else_who_has_a_key_else_rules(
    asked, keys, only_rules, families
):
    found, said = choose(*asked, keys=keys, only_rules=only_rules)

    assert [one.family for one in found] == families
    assert all(family in said for family in families)
    assert ("alone" in said) == (len(families) == 1)


def test_mono_takes_one_of_two():
    found, said = choose(keys=("claude", "gpt"), mode="mono")
    assert [one.family for one in found] == ["claude"]
    assert "nobody checks it" in said


def test_one_family_twice_checks_nothing():
    with pytest.raises(Refused, match="named twice"):
        choose(Hired(family="gpt"), Hired(family="gpt", model="other"))


def test_rules_review_all_by_both_and_as_often_as_it_takes():
    settings = ReviewSettings()

    assert settings.terms(None, (), RULES, "v1").stop_when == "covered_by_both"
    assert settings.terms(None, (), MODELS, "").stop_when == "covered"
    assert (settings.passes(RULES), settings.passes(MODELS)) == (FREE_PASSES, 15)
    assert ReviewSettings(stop_when="streak").terms(None, (), RULES, "").stop_when == "streak"
    assert ReviewSettings(max_review_passes=3).passes(RULES) == 3


def test_a_chunk_takes_no_more_than_its_share_of_the_window():
    def tokens(**asked):
        return ReviewSettings(**asked).terms(None, (), MODELS, "").chunk_tokens

    assert tokens() == 30_000
    assert tokens(context_mode="inline") == 16_000
    assert tokens(max_review_chunk_tokens=9_000) == 9_000
    assert tokens(reviewer_window_tokens=20_000, reviewer_window_percent=50) == 10_000
    assert tokens(reviewer_window_tokens=1_000_000) == 30_000


def test_other_rules_ask_for_other_verdicts():
    settings = ReviewSettings()
    one, two = (settings.terms(None, (), RULES, version) for version in ("ruff 1", "ruff 2"))
    assert one.criterion != two.criterion


def test_a_review_has_a_name_of_its_own():
    assert review_slug(None) == "review"
    assert review_slug(Sentence(text="swallowed errors")).startswith("review-swallowed-errors")
