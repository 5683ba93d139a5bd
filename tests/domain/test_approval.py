"""What a person says of a list before anything is done about it."""

import pytest

from domain.approval import GO, STOP, Approval
from domain.site import Site

SITES = (
    Site(key="0123456789abcdef", path="a.py", line=3),
    Site(key="0123456789abcdef", nth=1, path="a.py", line=5),
    Site(key="fedcba9876543210", path="gen/b.py", line=1),
)
FIRST, SECOND, THIRD = (site.id for site in SITES)


@pytest.mark.parametrize(
    ("words", "struck"),
    [
        ("", ()),
        ("a.py:3", (FIRST,)),
        ("a.py", (FIRST, SECOND)),
        ("gen/*", (THIRD,)),
        ("gen/", (THIRD,)),
        ("*.py", (FIRST, SECOND, THIRD)),
        (f"{SECOND}", (SECOND,)),
        ("fedcba9876", (THIRD,)),
        ("a.py:3,\n gen/b.py  a.py:3", (FIRST, THIRD)),
    ],
)
def test_sites_are_struck_by_id_place_path_or_glob(words, struck):
    assert Approval.of(GO, words, SITES) == Approval(go=True, struck=struck)
    assert Approval.of(STOP, f"go {words}", SITES) == Approval(go=True, struck=struck)


@pytest.mark.parametrize("words", ["", "a.py", "no", "stop a.py", "NO"])
def test_what_is_no_yes_does_nothing(words):
    approval = Approval.of(STOP, words, SITES)

    assert not approval.go
    assert "was not approved" in approval.why
    assert not Approval.of(GO, "no", SITES).go


@pytest.mark.parametrize("name", ["c.py", "a.py:4", "fed", "gen"])
def test_a_name_that_fits_no_site_stops_it_all(name):
    """Else that would be changed which was to be left alone."""
    approval = Approval.of(GO, f"a.py {name}", SITES)

    assert not approval.go
    assert repr(name) in approval.why
