"""Redacting: nothing that we write, print or hand to Prefect holds a secret of the operator's environment.

One function for each door: texts, values, log records, exceptions, streams and files.
"""

import logging
import os
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache, wraps
from typing import ParamSpec, TextIO, TypeVar, cast

from domain.redaction import Redactor, secrets_in
from domain.value import Busy, Refused, Value

AnyValue = TypeVar("AnyValue", bound=Value)
Given = ParamSpec("Given")
Result = TypeVar("Result")


class Withheld(Exception):
    """Stands for an exception whose words held a secret."""


def redactor() -> Redactor:
    """For the secrets that the environment holds now."""
    return _redactor(secrets_in(os.environ))


@lru_cache(maxsize=4)
def _redactor(secrets: tuple[str, ...]) -> Redactor:
    return Redactor(secrets=secrets)


def clean(text: str) -> str:
    return redactor().clean(text)


def scrubbed(plain: object) -> object:
    """Plain data, as JSON knows it, with every text in it clean."""
    taker = redactor()
    return _scrubbed(plain, taker) if taker.finds("\n".join(_texts(plain))) else plain


def cleaned(value: AnyValue) -> AnyValue:
    """The value with every text in it clean; the very same one when nothing is to be taken out."""
    if not redactor().secrets:
        return value
    plain = value.model_dump(mode="json")
    clean_one = scrubbed(plain)
    return value if clean_one is plain else type(value).model_validate(clean_one)


def _texts(plain: object) -> Iterator[str]:
    if isinstance(plain, str):
        yield plain
    elif isinstance(plain, Mapping):
        for name, value in cast("Mapping[str, object]", plain).items():
            yield name
            yield from _texts(value)
    elif isinstance(plain, list | tuple):
        for value in cast("list[object]", plain):
            yield from _texts(value)


def _scrubbed(plain: object, taker: Redactor) -> object:
    if isinstance(plain, str):
        return taker.clean(plain)
    if isinstance(plain, Mapping):
        items = cast("Mapping[str, object]", plain).items()
        return {taker.clean(name): _scrubbed(value, taker) for name, value in items}
    if isinstance(plain, list | tuple):
        return [_scrubbed(value, taker) for value in cast("list[object]", plain)]
    return plain


def refuse(*asked: Value) -> None:
    """Refuse what an operator asked for with a secret in it: it would become a parameter of the flow."""
    values = set(secrets_in(os.environ))
    for name, value in sorted(os.environ.items()):
        one = Redactor(secrets=(value,))
        if value in values and any(one.finds("\n".join(_texts(a.model_dump()))) for a in asked):
            raise Refused(
                f"the value of ${name} stands in what was asked for. It would be kept in Prefect's database, "
                f"in the report and in commits. Let the command read it from a file, or from a --setup of its own."
            )


def discreet(step: Callable[Given, Result]) -> Callable[Given, Result]:
    """A step whose exceptions and log lines are clean: Prefect writes their words into its database."""

    @wraps(step)
    def stepping(*args: Given.args, **kwargs: Given.kwargs) -> Result:
        clean_logs()
        try:
            return step(*args, **kwargs)
        except Exception as trouble:
            instead = _instead_of(trouble)
            if instead is None:
                raise
        # Outside of the `except`: the one with the secret is not its context.
        raise instead

    return stepping


def _instead_of(trouble: Exception) -> Exception | None:
    """The exception without secrets, of the same kind where the kind decides; None when it has none."""
    if not redactor().finds("".join(traceback.format_exception(trouble))):
        return None
    words = clean(str(trouble))
    kept = isinstance(trouble, Refused | Busy)
    instead = type(trouble)(words) if kept else Withheld(f"{type(trouble).__name__}: {words}")
    return instead.with_traceback(trouble.__traceback__)


def clean_logs() -> None:
    """Make every log record of this process clean from the start, whatever handler takes it. Repeating it has no effect."""
    made = logging.getLogRecordFactory()
    if getattr(made, "cleans", False):
        return

    def make(*args: object, **more: object) -> logging.LogRecord:
        record = made(*args, **more)
        _clean_record(record)
        return record

    make.cleans = True  # pyright: ignore[reportFunctionMemberAccess] -- how it is known again
    logging.setLogRecordFactory(make)


def _clean_record(record: logging.LogRecord) -> None:
    taker = redactor()
    if not taker.secrets:
        return
    try:
        said = record.getMessage()
    except (TypeError, ValueError, KeyError):
        return  # its arguments do not fit: whoever handles it will say so
    if taker.finds(said):
        record.msg, record.args = taker.clean(said), ()
    if record.exc_info and record.exc_info[0]:
        trace = "".join(traceback.format_exception(*record.exc_info))
        if taker.finds(trace):
            record.exc_text, record.exc_info = taker.clean(trace), None


def clean_streams() -> None:
    """Make what this process prints clean: results, remarks, and the words of whatever library speaks up."""
    if redactor().secrets:
        sys.stdout, sys.stderr = (
            cast("TextIO", _Clean(sys.stdout)),
            cast("TextIO", _Clean(sys.stderr)),
        )


class _Clean:
    """A text stream that writes what it is given clean."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        # click asks with bytes what kind of stream it is.
        return self._stream.write(clean(text) if isinstance(text, str) else text)  # pyright: ignore[reportUnnecessaryIsInstance]

    def writelines(self, lines: list[str]) -> None:
        self.write("".join(lines))

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)


@lru_cache(maxsize=4)
def _for_bytes(secrets: tuple[str, ...]) -> Redactor:
    """For text in Latin-1, which has a character for every byte: nothing is lost on the way there and back."""
    as_bytes = (secret.encode("utf-8", "surrogateescape").decode("latin-1") for secret in secrets)
    return Redactor(secrets=tuple(dict.fromkeys((*secrets, *as_bytes))))


HELD = 4_096
"""Bytes that wait for what comes after them: a secret may be cut in two by the end of a read."""


class CleanBytes:
    """A stream of bytes made clean on its way into a file."""

    def __init__(self, write: Callable[[bytes], object]) -> None:
        self._write = write
        self._taker = _for_bytes(redactor().secrets)
        self._rest = ""

    def take(self, chunk: bytes) -> None:
        if not self._taker.secrets:
            self._write(chunk)
            return
        self._rest += chunk.decode("latin-1")
        if len(self._rest) < 2 * HELD:  # many short reads are cleaned together
            return
        text = self._taker.clean(self._rest)
        ready, self._rest = text[:-HELD], text[-HELD:]
        self._write(ready.encode("latin-1"))

    def finish(self) -> None:
        self._write(self._taker.clean(self._rest).encode("latin-1"))
        self._rest = ""
