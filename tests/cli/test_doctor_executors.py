"""What `swathe doctor` says of who could work here."""

from adapters.vendors import agents
from cli import checkup


def said(name):
    (check,) = [one for one in checkup._executors() if one.name == f"executor {name}"]
    return check


def test_what_an_executor_lacks_is_named_and_is_no_illness(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    gone = agents.PROGRAMS["gpt"]._replace(package="not_installed_anywhere")
    monkeypatch.setitem(agents.PROGRAMS, "gpt", gone)

    check = said("codex")

    assert check.ok
    assert (check.found, check.advice) == (
        "not here",
        "set OPENAI_API_KEY; install the extra: pip install 'swathe[codex]'",
    )


def test_an_executor_that_lacks_nothing_can_be_hired(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    here = agents.PROGRAMS["gpt"]._replace(package="adapters", path="home.py")
    monkeypatch.setitem(agents.PROGRAMS, "gpt", here)

    for name in ("gpt", "codex"):
        assert (said(name).found, said(name).advice) == ("can be hired", "")
