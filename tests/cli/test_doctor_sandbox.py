"""What `swathe doctor` says of the sandbox: what works here, why not, and what to do."""

import pytest

from adapters.processes import canary, landlock
from adapters.processes.sandbox import available
from cli import checkup
from domain.target import Target


@pytest.fixture(name="no_bubblewrap")
def _no_bubblewrap(monkeypatch):
    monkeypatch.setattr(canary, "programs", list)
    canary.bubblewrap.cache_clear()
    yield
    canary.bubblewrap.cache_clear()


def said(**target):
    return checkup._sandbox(Target(repo=".", **target))


@pytest.mark.skipif(not available().works, reason=f"needs a sandbox: {available().why}")
def test_a_sandbox_that_works_is_named_with_its_version_its_place_and_its_gaps():
    check = said()

    assert check.ok
    assert check.found.startswith("bubblewrap 0.")
    assert check.found.endswith("/bwrap")
    assert "the kernel is shared" in check.advice


@pytest.mark.skipif(not available().works, reason=f"needs a sandbox: {available().why}")
def test_a_sandbox_that_is_off_is_called_off():
    assert said(sandbox="off").found.endswith("/bwrap; off: --sandbox auto uses it")


def test_a_sandbox_that_does_not_work_is_no_illness_unless_it_is_required(no_bubblewrap):
    assert said().ok
    assert said(sandbox="off").ok
    assert not said(sandbox="required").ok
    assert not said(offline=True).ok


def test_what_does_not_work_is_told_with_the_consequence_and_what_to_do(no_bubblewrap):
    check = said()

    assert "bubblewrap does not work here: there is no `bwrap`" in check.found
    assert "the target's commands have your rights" in check.found
    assert "Install the system package `bubblewrap`" in check.advice
    if landlock.abi() >= landlock.OLDEST_ABI:
        assert f"What works here: landlock ABI {landlock.abi()}." in check.advice
