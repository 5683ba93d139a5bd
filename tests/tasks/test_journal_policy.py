"""Under which key a step is kept."""

from types import SimpleNamespace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from domain.survey import Brief
from tasks.journal_policy import journal_key


def key(task: str = "agent_pass", run: str = "run", **inputs: Any) -> str:
    context: Any = SimpleNamespace(
        task=SimpleNamespace(name=task), task_run=SimpleNamespace(flow_run_id=run)
    )
    return journal_key(context, inputs)


def test_the_same_step_of_the_same_run_has_the_same_key():
    assert key(brief=Brief(number=1, tip="a")) == key(brief=Brief(number=1, tip="a"))


def test_a_run_a_task_and_every_input_tell_keys_apart():
    keys = {
        key(brief=Brief(number=1, tip="a")),
        key(brief=Brief(number=2, tip="a")),
        key(brief=Brief(number=1, tip="b")),
        key(brief=Brief(number=1, tip="a"), run="other"),
        key(brief=Brief(number=1, tip="a"), task="verify"),
        key(other=Brief(number=1, tip="a")),
    }

    assert len(keys) == 6


def test_what_was_done_on_another_disk_is_done_again(tmp_path, monkeypatch):
    """T68: the chain of a pass lies on the disk that it was made on."""
    here = key(brief=Brief(number=1, tip="a"))
    monkeypatch.setenv("SWATHE_HOME", str(tmp_path))

    assert key(brief=Brief(number=1, tip="a")) != here


@given(path=st.text(st.characters(), min_size=1))
def test_any_path_can_be_part_of_a_key(path):
    """Bytes of a file name that are not UTF-8 come as surrogates."""
    assert key(brief=Brief(number=1, tip=path)) == key(brief=Brief(number=1, tip=path))
    assert key(brief=Brief(number=1, tip="\udcff")) != key(brief=Brief(number=1, tip="\udcfe"))
