import json

import pytest

from tally.command import main, summary
from tally.ledger import Ledger, parse_ledger

TEXT = "2024-03-01 food 12.50 apples\n2024-03-02 rent 640\n"


@pytest.fixture(name="ledger")
def _ledger(tmp_path):
    path = tmp_path / "ledger.txt"
    path.write_text(TEXT)
    return str(path)


def test_sums_by_category_are_the_default(ledger, capsys):
    assert main([ledger]) == 0
    assert capsys.readouterr().out == "food    12.50\nrent   640.00\n"


def test_sums_by_month(ledger, capsys):
    assert main([ledger, "--by", "month"]) == 0
    assert capsys.readouterr().out == "2024-03   652.50\n"


def test_only_what_a_note_mentions(ledger, capsys):
    assert main([ledger, "--about", "apple"]) == 0
    assert capsys.readouterr().out == "food    12.50\n"


def test_an_exceeded_limit_is_told_and_is_an_exit_code(ledger, tmp_path, capsys):
    (tmp_path / "limits").write_text(json.dumps({"*": "100"}))
    assert main([ledger, "--limits", str(tmp_path / "limits")]) == 1
    assert capsys.readouterr().err == "2024-03: rent is over its limit by 540.00\n"


def test_a_summary_in_one_sentence():
    assert summary(parse_ledger(TEXT)) == "652.50 in 2 entries; the largest is rent (98.1 %)"
    assert summary(Ledger()) == "nothing spent"
