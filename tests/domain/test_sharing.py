"""Who may take a lease, and how two sides of a ref stand to each other."""

from datetime import UTC, datetime, timedelta

import pytest

from domain.pool import target_of
from domain.sharing import SECONDS_OF_A_LEASE, Delivery, Holder, course, held_by, takeable

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)


def holder(**more):
    return Holder.model_validate({"run": "r1", "disk": "a", "host": "one", "at": NOON, **more})


def after(seconds, **more):
    return holder(**{"run": "r2", "disk": "b", "at": NOON + timedelta(seconds=seconds), **more})


@pytest.mark.parametrize(
    ("mine", "may"),
    [
        (after(0), False),
        (after(SECONDS_OF_A_LEASE), False),
        (after(SECONDS_OF_A_LEASE + 1), True),
        (after(-SECONDS_OF_A_LEASE), False),  # clocks differ
        (after(-SECONDS_OF_A_LEASE - 1), True),  # by so much, nobody's word counts
        (after(0, disk="a"), True),  # we hold the lock of that disk
        (after(0, run="r1"), True),  # it crashed, and goes on here
    ],
)
def test_a_lease_is_given_up(mine, may):
    assert takeable(holder(), mine) is may


def test_who_holds_it_is_told_with_when_it_ends():
    assert held_by(holder(), after(42), "example.com/x") == (
        "run r1 on one works on example.com/x (it said so 42 s ago). "
        "If it is dead, its lease ends 5 min 0 s after its last word."
    )


@pytest.mark.parametrize(
    ("ours", "theirs", "in_theirs", "in_ours", "way"),
    [
        (None, None, False, False, "same"),
        ("a", "a", False, False, "same"),
        (None, "a", False, False, "behind"),
        ("a", None, False, False, "ahead"),
        ("a", "b", True, False, "behind"),
        ("a", "b", False, True, "ahead"),
        ("a", "b", False, False, "apart"),
    ],
)
def test_two_sides_of_a_ref(ours, theirs, in_theirs, in_ours, way):
    assert course(ours, theirs, ours_in_theirs=in_theirs, theirs_in_ours=in_ours) == way


def test_what_is_not_delivered_is_told_with_the_command():
    said = Delivery(
        to="example.com/x", missing=("refs/heads/a",), why="no route.", command="git push"
    ).said

    assert said == "not delivered to example.com/x: no route. The next run pushes it, or: git push"


@pytest.mark.parametrize(
    ("given", "share"),
    [
        ({"repo": "https://example.com/x.git"}, "origin"),
        ({"repo": "https://example.com/x.git", "share": "none"}, "none"),
        ({"repo": "/srv/x"}, ""),
        ({"repo": "/srv/x", "share": "backup"}, "backup"),
    ],
)
def test_the_pool_of_a_url_shares_with_it_unless_it_says_otherwise(given, share):
    assert target_of(given).share == share
