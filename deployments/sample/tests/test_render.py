import pytest

from tally.markup import encoded
from tally.money import Money
from tally.render import UnknownFormat, formats, render

SUMS = {"rent": Money(64000), "food & fun": Money(1570)}


def test_the_formats_there_are():
    assert formats() == ["html", "plain"]


def test_plain_text_is_aligned():
    assert render(SUMS) == "food & fun    15.70\nrent         640.00"
    assert render({}) == ""


def test_html_is_escaped():
    assert render(SUMS, "html").startswith("<table><tr><td>food &amp; fun</td><td>15.70</td></tr>")


def test_a_page_is_encoded_as_utf_8():
    assert encoded("ä") == b"\xc3\xa4"


def test_an_unknown_format_names_those_there_are():
    with pytest.raises(UnknownFormat, match="no format 'pdf'. There are: html, plain"):
        render(SUMS, "pdf")
