"""Words of the operator on disk: each counts once, and is for the run that it was said to."""

import pytest

from adapters import beginning, words
from adapters.models.conversation import Conversation
from adapters.models.lines import append
from adapters.repository.lock import release
from adapters.repository.workspaces import run_folder
from domain.word import Word


def test_a_word_that_is_handed_on_twice_counts_once(campaign):
    said = Word(id="1", tell="leave b.py")

    assert words.say(campaign.workspace, said)
    assert not words.say(campaign.workspace, said)
    assert words.say(campaign.workspace, Word(tell="leave b.py")), "said anew"
    assert list(words.said(campaign.workspace).told.values()) == ["leave b.py"] * 2
    assert words.known(campaign.workspace, "1")
    assert not words.known(campaign.workspace, "2")


def test_a_line_that_cannot_be_read_is_left_out(campaign):
    append(words.path(campaign.workspace), {"id": "0", "of_a_newer_swathe": True})
    words.say(campaign.workspace, Word(enough=True))

    assert words.said(campaign.workspace).enough


def test_a_secret_in_a_word_is_taken_out(campaign, monkeypatch):
    monkeypatch.setenv("MY_API_TOKEN", "cAnary-1f2e3d4c5b6a7z8y")
    words.say(campaign.workspace, Word(tell="use cAnary-1f2e3d4c5b6a7z8y"))

    assert "cAnary" not in words.path(campaign.workspace).read_text()


@pytest.mark.parametrize("resumed", [False, True])
def test_a_run_that_sets_out_has_heard_nothing_but_the_answer_to_the_last_ones_question(
    campaign, resumed
):
    workspace = campaign.workspace
    words.say(workspace, Word(enough=True))
    words.say(workspace, Word(tell="yes", kept=True))
    if resumed:
        (run_folder(workspace) / beginning.START).write_text("{}")

    beginning.attach(workspace)
    release(beginning.lock_path(workspace))

    said = words.said(workspace)
    assert (said.enough, list(said.told.values())) == (resumed, ["yes"])
    words.forget(workspace)
    assert not words.said(workspace).told


def test_a_conversation_that_is_gone_on_with_knows_what_it_was_told(tmp_path):
    head = {"family": "claude", "model": "m", "prefix": "p"}
    one = Conversation.open(tmp_path / "talk.jsonl", head)
    one.begin("a", "work", "The operator says: first", ["1"])
    one.send(one.messages[0], ["2"])  # pyright: ignore[reportArgumentType]

    assert one.heard == Conversation.open(tmp_path / "talk.jsonl", head).heard == {"1", "2"}
