"""How a file writes its text, so that a change keeps every byte it does not mean."""

from typing import NamedTuple

BOM = b"\xef\xbb\xbf"


class FileRefused(Exception):
    """Nothing was read or written. The message is for the model: what, and what to do instead."""


class Form(NamedTuple):
    """How a file writes its text, so that a change keeps it."""

    encoding: str = "utf-8"
    bom: bool = False
    crlf: bool = False
    """Every line ends with CR LF. Where only some do, both are left as they are."""

    def bytes_of(self, text: str) -> bytes:
        if self.crlf and "\r" not in text:
            text = text.replace("\n", "\r\n")
        try:
            return text.encode(self.encoding)
        except UnicodeEncodeError as error:
            raise FileRefused(
                f"{text[error.start : error.end]!r} cannot be written in the file's {self.encoding}"
            ) from None


class Text(NamedTuple):
    text: str
    """Lines end with a line feed, also where the file has CR LF."""
    form: Form


def text_of(path: str, data: bytes) -> Text:
    if b"\0" in data:
        raise FileRefused(f"{path!r} is binary")
    bom = data.startswith(BOM)
    try:
        text, encoding = data.removeprefix(BOM).decode(), "utf-8"
    except UnicodeDecodeError:
        # Every byte is a character of latin-1, so that each comes back as it was.
        text, encoding, bom = data.decode("latin-1"), "latin-1", False
    crlf = "\r\n" in text and text.count("\n") == text.count("\r\n") == text.count("\r")
    return Text(
        text.replace("\r\n", "\n") if crlf else text, Form(encoding=encoding, bom=bom, crlf=crlf)
    )
