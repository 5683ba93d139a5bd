"""Approve first: what a person says of the list of sites before anything is done about it."""

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase

from domain.axis import Axis, Sentence
from domain.site import Site
from domain.value import Refused, Value
from domain.words import counted, printable

GO, STOP = "Go on with the list", "Stop: do nothing"
YES = ("go", "yes", "ok", "y")
NO = ("stop", "no", "n")
NOT_APPROVED = "the list was not approved; nothing was done."
NAMED = 10
"""Characters of a site's id that are shown, and enough to name it."""


class Approval(Value):
    """What was said."""

    go: bool = False
    """The sweep may begin."""
    struck: tuple[str, ...] = ()
    """Ids of sites that are to be left as they are."""
    why: str = ""
    """Of a stop."""

    @classmethod
    def of(cls, choice: str, words: str, sites: Sequence[Site]) -> "Approval":
        """By a form's menu, or by the words alone, as in `go a.py:3 gen/*`. A name that fits no site stops it all."""
        said = re.split(r"[\s,]+", words.strip()) if words.strip() else []
        go = choice == GO
        if said and said[0].lower() in (*YES, *NO):
            go, said = said[0].lower() in YES, said[1:]
        if not go:
            return cls(why=NOT_APPROVED)
        struck: list[str] = []
        for name in said:
            fitting = [site.id for site in sites if names(name, site)]
            if not fitting:
                return cls(
                    why=f"{printable(name)!r} names no site of the list, and something was to be left out by it; nothing was done."
                )
            struck += fitting
        return cls(go=True, struck=tuple(dict.fromkeys(struck)))

    @property
    def said(self) -> str:
        """For the log of the state."""
        return f"approve the list, and strike {counted(len(self.struck), 'site')} of it"


def approvable(axis: Axis) -> None:
    """Refuse a list that nobody has before the work begins."""
    if isinstance(axis, Sentence):
        raise Refused(
            "a sentence has no list of sites before a model has worked on it, so that there is nothing to approve. "
            "`swathe sweep` makes one as it goes, and `swathe list --strike` shortens it."
        )


def names(name: str, site: Site) -> bool:
    """Whether a person means a site: its id or the beginning of it, its `path:line`, its path, or a glob of paths."""
    return (
        name in (site.id, site.place, site.path)
        or (len(name) >= NAMED and site.id.startswith(name))
        or fnmatchcase(site.path, name)
        or (name.endswith("/") and site.path.startswith(name))
    )
