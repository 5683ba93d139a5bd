"""The `read` tool on lines that are too long for one look."""

import re

import pytest

from adapters.models.files import Files
from adapters.models.forms import FileRefused
from adapters.models.reading import look
from adapters.models.toolbox import Read
from domain.shown import whole

LONG = "x" * 1_990 + "é" * 150_000


@pytest.fixture(name="files")
def _files(tmp_path):
    (tmp_path / "a.js").write_text(f"first\n{LONG}\nlast\n")
    return Files(tmp_path)


def test_a_model_that_follows_what_it_is_told_sees_every_character(files):
    asked = Read(paths=["a.js"])
    seen, texts = [], []
    for _ in range(9):
        text, shown = look(files, "a.js", asked)
        seen += shown
        texts += re.findall(r"\t([xé]+)", text)
        told = re.search(r"column (\d+)\)", text)
        if not told:
            break
        assert 2 not in [one.first for one in whole(seen)], "there is more of it"
        asked = Read(paths=["a.js"], line=2, column=int(told[1]))

    assert "".join(texts) == LONG
    assert [(one.first, one.last, one.ends) for one in whole(seen)] == [
        (1, 1, False),
        (3, 4, True),
        (2, 2, False),
    ]


def test_a_column_past_the_end_is_refused_with_the_length(files):
    with pytest.raises(FileRefused, match=r"Line 1 of a\.js has 5 characters, none from 6 on"):
        look(files, "a.js", Read(paths=["a.js"], line=1, column=6))
    with pytest.raises(FileRefused, match=r"Line 99 of a\.js has 0 characters"):
        look(files, "a.js", Read(paths=["a.js"], line=99, column=2))


def test_a_short_line_has_a_rest_too(files):
    text, shown = look(files, "a.js", Read(paths=["a.js"], line=1, column=3))

    assert text == "a.js\n     1\trst"
    assert list(whole(shown)) == []
