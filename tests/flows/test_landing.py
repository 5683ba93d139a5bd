"""A campaign that lands: what is on the branch afterwards, and what is not."""

import pytest
from harness import breaks

pytestmark = pytest.mark.flow


def test_every_site_lands_as_a_commit_of_its_own(make):
    repo = make(3)

    report = repo.run()

    assert report.ending == "complete"
    assert [commit.site for commit in report.landed] == ["m1.py:1", "m2.py:1", "m3.py:1"]
    assert repo.log() == [commit.sha for commit in report.landed]
    assert repo.landed("m2.py") == "VALUE = 2  # DONE:m2"
    assert report.gate_runs == 3, "the base, the broken base, and one batch"


def test_a_commit_that_breaks_a_test_is_parked_with_the_test_it_breaks(make):
    repo = make(3)
    repo.edits("m2", breaks(2))

    report = repo.run()

    assert report.ending == "exhausted"
    assert [commit.site for commit in report.landed] == ["m1.py:1", "m3.py:1"]
    (parked,) = report.parked
    assert (parked.site, parked.reason) == ("m2.py:1", "red")
    assert [failure.test for failure in parked.failures] == ["tests/test_m2.py::test_m2"]
    assert repo.refs[parked.ref] == parked.sha
