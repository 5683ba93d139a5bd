"""No door lets a secret of the operator's environment out; and what holds none passes as it is."""

import json
import logging
import sys

import pytest

from adapters import events, redacting
from adapters.processes.capture import Capture
from domain.gate import Failure, GateRun
from domain.redaction import MARK
from domain.target import Target
from domain.value import Refused

CANARY = 'cAnary-9f8e7d6c5b"4a/+='
PLAIN = "nothing secret in it"


@pytest.fixture(autouse=True, name="canary")
def _canary(world, monkeypatch):
    monkeypatch.setenv("MY_API_TOKEN", CANARY)


def test_a_value_is_cleaned_in_every_text_of_it():
    run = GateRun(
        status="failed",
        tests={f"test_x[{CANARY}]": "failed", "test_y": "passed"},
        messages={"test_y": f"got {CANARY}"},
        tail=CANARY,
        seconds=1.5,
    )

    cleaned = redacting.cleaned(run)

    assert CANARY not in json.dumps(cleaned.model_dump(), ensure_ascii=False)
    assert cleaned.tests == {f"test_x[{MARK}]": "failed", "test_y": "passed"}
    assert (cleaned.seconds, cleaned.status) == (1.5, "failed")


def test_a_value_without_a_secret_is_the_very_same():
    failure = Failure(test="t", message=PLAIN)

    assert redacting.cleaned(failure) is failure


def test_an_event_is_clean(tmp_path):
    events.emit(tmp_path, "parked", site=PLAIN, failures=[f"t[{CANARY}]"])

    (record,) = events.read(tmp_path)
    assert (record["site"], record["failures"]) == (PLAIN, [f"t[{MARK}]"])


@pytest.mark.parametrize("size", [1, 7, 4096, 1_000_000])
def test_a_log_on_disk_is_clean_wherever_the_reads_cut_it(tmp_path, size):
    noise = b"line \xff of a test\n" * 500
    data = noise + CANARY.encode() + noise + CANARY.encode().hex().encode() + noise
    log = tmp_path / "gate.log"

    with Capture(1000, log, 50_000_000) as capture:
        for start in range(0, len(data), size):
            capture.take(data[start : start + size])

    written = log.read_bytes()
    assert CANARY.encode() not in written
    assert CANARY.encode().hex().encode() not in written
    assert MARK.encode() in written
    assert written.replace(MARK.encode(), b"").replace(noise, b"") == b""


def test_a_log_without_a_secret_is_byte_for_byte_what_was_said(tmp_path):
    data = bytes(range(256)) * 100

    with Capture(1000, tmp_path / "log", 50_000_000) as capture:
        capture.take(data)

    assert (tmp_path / "log").read_bytes() == data


class Heard(logging.Handler):
    def __init__(self):
        super().__init__()
        self.said = []

    def emit(self, record):
        self.said.append(self.format(record))


@pytest.fixture(name="logger")
def _logger():
    """Of a name that no library has; the factory of records is put back."""
    before = logging.getLogRecordFactory()
    logger, heard = logging.getLogger("canary"), Heard()
    logger.addHandler(heard)
    redacting.clean_logs()
    redacting.clean_logs()
    yield logger, heard.said
    logger.removeHandler(heard)
    logging.setLogRecordFactory(before)


def test_log_records_are_clean_with_their_arguments_and_tracebacks(logger):
    log, said = logger
    log.warning("got %s", CANARY)
    log.warning("%s", PLAIN)
    try:
        int(CANARY)
    except ValueError:
        log.exception("failed")

    assert said[:2] == [f"got {MARK}", PLAIN]
    assert CANARY not in said[2]
    assert "ValueError" in said[2]
    assert "Traceback" in said[2]


def test_a_record_whose_arguments_do_not_fit_is_left_to_its_handler(logger):
    log, said = logger
    with pytest.raises(TypeError):
        log.warning("%d", "x")
    assert said == []


class Odd(Exception):
    """Cannot be made from one text."""

    def __init__(self, one, two):
        super().__init__(one, two)


@redacting.discreet
def failing(trouble, cause=None):
    raise trouble from cause


@pytest.mark.parametrize("trouble", [ValueError(CANARY), Odd(1, CANARY), OSError(2, PLAIN, CANARY)])
def test_an_exception_with_a_secret_is_replaced_by_its_kind_and_clean_words(trouble):
    with pytest.raises(redacting.Withheld, match=f"^{type(trouble).__name__}: ") as seen:
        failing(trouble)

    assert CANARY not in str(seen.value)
    assert seen.value.__context__ is None
    assert seen.value.__cause__ is None


def test_a_secret_in_the_cause_is_found():
    with pytest.raises(redacting.Withheld, match="nothing secret") as seen:
        failing(ValueError(PLAIN), OSError(CANARY))

    assert seen.value.__cause__ is None


def test_a_refusal_stays_one_and_other_exceptions_are_untouched():
    with pytest.raises(Refused, match="no such thing"):
        failing(Refused(f"no such thing: {CANARY}"))
    plain = ValueError(PLAIN)
    with pytest.raises(ValueError, match=PLAIN) as seen:
        failing(plain)
    assert seen.value is plain


def test_what_is_printed_is_clean(capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdout", sys.stdout)
    monkeypatch.setattr(sys, "stderr", sys.stderr)
    redacting.clean_streams()

    print(f"result {CANARY}")  # noqa: T201
    sys.stderr.writelines([PLAIN, CANARY])

    assert capsys.readouterr() == (f"result {MARK}\n", f"{PLAIN}{MARK}")


def test_without_a_secret_the_streams_are_left_alone(monkeypatch):
    monkeypatch.delenv("MY_API_TOKEN")
    before = sys.stdout, sys.stderr

    redacting.clean_streams()

    assert (sys.stdout, sys.stderr) == before


def test_a_request_with_a_secret_is_refused_by_the_variables_name():
    """No key is ever a flow parameter."""
    with pytest.raises(Refused, match=r"\$MY_API_TOKEN") as refusal:
        redacting.refuse(Target(repo="r", verify=(f"curl -u {CANARY} x",)))

    assert CANARY not in str(refusal.value)
    redacting.refuse(Target(repo="r", verify=("make test",)))
