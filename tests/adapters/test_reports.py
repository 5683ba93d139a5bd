"""JUnit XML as the judged code could have written it."""

import os
import tracemalloc

import pytest

from adapters.processes import reports
from adapters.processes.reports import MESSAGE_CHARACTERS, MOST_MESSAGES, read

ONE = '<testcase classname="a" name="{0}">{1}</testcase>'
LAUGHS = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><testsuite>&b;</testsuite>'
OUTSIDE = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><testsuite>&a;</testsuite>'


@pytest.fixture(name="said")
def _said(tmp_path):
    def said(*texts):
        for number, text in enumerate(texts):
            data = text if isinstance(text, bytes) else text.encode()
            (tmp_path / f"{number}.xml").write_bytes(data)
        return read(tmp_path.iterdir())

    return said


def suite(*cases):
    return f"<testsuites><testsuite>{''.join(cases)}</testsuite></testsuites>"


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        (
            'file="tests/test_a.py" classname="tests.test_a" name="test_x[1-a::b]"',
            "tests/test_a.py::test_x[1-a::b]",
        ),
        (
            'file="tests/test_a.py" classname="tests.test_a.TestA" name="x"',
            "tests/test_a.py::TestA::x",
        ),
        ('file="tests/base.py" classname="tests.test_a.TestA" name="x"', "tests.test_a.TestA::x"),
        (
            'file="tests/test_a.py" classname="" name="tests.test_a"',
            "tests/test_a.py::(collection)",
        ),
        ('classname="com.acme.AppTest" name="works"', "com.acme.AppTest::works"),
        ('name="alone"', "alone"),
        ('classname="a" name="x[&lt;object at 0x7f3a5c001d90&gt;]"', "a::x[<object at 0x>]"),
    ],
)
def test_ids_are_those_of_pytest_where_the_file_is_known_and_the_same_in_every_run(
    said, attributes, expected
):
    assert list(said(suite(f"<testcase {attributes}/>")).tests) == [expected]


def test_outcomes_are_told_apart(said):
    found = said(
        suite(
            ONE.format("p", "<system-out>failure</system-out>"),
            ONE.format("f", '<failure message="why">how</failure>'),
            ONE.format("e", "<error/>"),
            ONE.format("s", '<skipped type="pytest.xfail"/>'),
        )
    )

    assert found.tests == {"a::p": "passed", "a::f": "failed", "a::e": "error", "a::s": "skipped"}
    assert found.messages == {"a::f": "why\nhow", "a::e": ""}
    assert (found.files, found.broken) == (1, ())


@pytest.mark.parametrize("order", [1, -1])
def test_of_a_test_that_is_named_twice_the_worst_outcome_counts(said, order):
    """A forged pass in a second report cannot undo a failure."""
    passes, fails = suite(ONE.format("x", "")), suite(ONE.format("x", "<failure>no</failure>"))

    found = said(*[passes, fails][::order])

    assert found.tests == {"a::x": "failed"}
    assert found.messages == {"a::x": "no"}


def test_a_message_is_bounded_and_keeps_its_end(said):
    found = said(
        suite(
            ONE.format("x", f'<failure message="first words">{"y" * 1_000_000} the cause</failure>')
        )
    )

    message = found.messages["a::x"]
    assert message.startswith("first words\n... y")
    assert message.endswith("the cause")
    assert len(message) < MESSAGE_CHARACTERS + 10


def test_no_more_than_fifty_failures_have_their_text(said):
    found = said(suite(*[ONE.format(n, "<failure>no</failure>") for n in range(200)]))

    assert len(found.tests) == 200
    assert len(found.messages) == MOST_MESSAGES


def test_a_report_that_breaks_off_counts_up_to_there_and_is_named_as_broken(said):
    whole = suite(ONE.format("x", ""), ONE.format("y", "<failure>no</failure>"))

    found = said(whole[: whole.index("no")])

    assert found.tests == {"a::x": "passed"}
    assert len(found.broken) == 1
    assert found.broken[0].startswith("0.xml: ")


@pytest.mark.parametrize("text", [LAUGHS, OUTSIDE])
def test_a_document_type_is_refused_before_any_entity_is_read(said, text):
    found = said(text)

    assert found.broken == ("0.xml: it declares a document type",)


@pytest.mark.parametrize(
    "text", ["", "no xml", b"\xff\xfe\x00", '<?xml version="1.0" encoding="no-such"?><a/>']
)
def test_what_is_no_xml_is_broken_and_does_not_raise(said, text):
    found = said(text)

    assert (found.tests, len(found.broken)) == ({}, 1)


def test_a_report_in_another_encoding_is_read(said):
    text = '<?xml version="1.0" encoding="iso-8859-1"?>' + suite(ONE.format("caf\xe9", ""))

    assert said(text.encode("latin-1")).tests == {"a::café": "passed"}


def test_a_fifo_a_link_and_a_folder_under_a_reports_name_are_passed_over(tmp_path):
    os.mkfifo(tmp_path / "fifo.xml")
    (tmp_path / "link.xml").symlink_to("/etc/passwd")
    (tmp_path / "folder.xml").mkdir()

    assert read(tmp_path.iterdir()).files == 0


def test_a_huge_report_is_read_in_little_memory_up_to_its_bound(tmp_path, monkeypatch):
    monkeypatch.setattr(reports, "MOST_BYTES", 20_000_000)
    huge = tmp_path / "0.xml"
    huge.write_text(suite(ONE.format("x", f"<failure>{'y' * 30_000_000}</failure>")))

    tracemalloc.start()
    found = read([huge])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert found.broken == ("0.xml: larger than 20,000,000 bytes",)
    assert peak < 2_000_000


def test_more_tests_than_anyone_has_are_not_kept(said, monkeypatch):
    monkeypatch.setattr(reports, "MOST_TESTS", 10)

    found = said(suite(*[ONE.format(n, "") for n in range(20)]))

    assert len(found.tests) == 10
    assert found.broken == ("0.xml: more than 10 tests",)
