"""What an executor hands over: whole files, the sites they settle, and a subject line."""

from collections import Counter
from collections.abc import Sequence
from typing import Literal

from domain.site import Listing, Site
from domain.value import Value

SUBJECT_LENGTH = 72

Grain = Literal["finding", "file", "rule"]
"""What one commit holds: one finding's edit, one file's, or one rule's."""


class Change(Value):
    """One file as it is to be. Its mode stays what it was; a new file's is that of the tree."""

    path: str
    content: bytes | None
    """None: the file is gone. Of a symbolic link (only a command makes one): what it points to."""
    sites: tuple[Site, ...]
    subject: str
    """Of the commit; the same in every change of one commit."""


class Worked(Value):
    """What a pass of an executor came to."""

    commits: int = 0
    rounds: int = 0
    """Looks at the tree that found something to do."""
    left: Listing = Listing()
    """The sites that are still there, those excluded among them, and what should be known of them."""


def subject(sites: Sequence[Site], verb: str = "Fix") -> str:
    """Say what a commit does, imperative and in at most 72 characters."""
    rules = list(dict.fromkeys(_plain(site.rule) for site in sites if site.rule.strip()))
    paths = list(dict.fromkeys(site.path for site in sites))
    named = f"{verb} {_few(rules)}" if rules else verb
    if len(paths) > 1:
        return _cut(f"{named} in {len(paths)} files ({len(sites)} sites)")
    places = dict.fromkeys((site.line, site.edits) for site in sites)
    if len(places) > 1 and len(sites) > 1:
        return _cut(f"{named} in {_short(paths[0], len(named) + 16)} ({len(sites)} sites)")
    place = f"{_short(paths[0], len(named) + 12)}:{sites[0].line}"
    said = _lowered(_plain(sites[0].message).replace("`", ""))
    return _cut(f"{named} in {place}: {said}" if said else f"{named} in {place}")


def counted(rules: Counter[str], ending: str) -> tuple[str, ...]:
    """Notes such as `12 of F841 have no safe fix`."""
    return tuple(
        f"{count} of {rule or 'the sites'} {ending}" for rule, count in sorted(rules.items())
    )


def some(paths: Sequence[str], most: int = 3) -> str:
    """`a.py`, or `5 files (a.py, b.py, c.py, …)`."""
    shown = ", ".join(_plain(path) for path in paths[:most])
    if len(paths) == 1:
        return shown
    return f"{len(paths)} files ({shown}{', …' if len(paths) > most else ''})"


def _few(rules: Sequence[str]) -> str:
    return ", ".join(rules[:3]) + (" and more" if len(rules) > 3 else "")  # noqa: PLR2004 -- a line


def _short(path: str, taken: int) -> str:
    """The path, or as much of its end as leaves room; never a character a terminal acts on."""
    room = max(SUBJECT_LENGTH - taken, 16)
    path = _plain(path)
    if len(path) <= room:
        return path
    name = path.rsplit("/", 1)[-1]
    return f"…/{name}" if len(name) + 2 <= room else f"…{path[-(room - 1) :]}"


def _plain(text: str) -> str:
    one_line = " ".join(text.split())
    return "".join(c if c.isprintable() else "?" for c in one_line)


def _lowered(text: str) -> str:
    """Without a capital at the start, unless the word is all capitals."""
    return text if text[1:2].isupper() else text[:1].lower() + text[1:]


def _cut(line: str) -> str:
    if len(line) <= SUBJECT_LENGTH:
        return line
    whole_words = line[: SUBJECT_LENGTH - 1].rsplit(" ", 1)[0].rstrip(" ,:;")
    return (
        f"{whole_words}…"
        if len(whole_words) > SUBJECT_LENGTH // 2
        else line[: SUBJECT_LENGTH - 1] + "…"
    )
