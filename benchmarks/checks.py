"""Whether what was timed is right."""

from collections import Counter
from hashlib import sha1

from adapters.repository.git import git
from benchmarks.fields import Field
from benchmarks.repositories import place
from domain.report import Report


def landed_all_but_the_bad(field: Field, report: Report) -> None:
    """The landed set, the parked set and the final tree, against what the executor makes of the files."""
    landed = Counter(_file(commit.site) for commit in report.landed)
    assert landed == Counter(change.path for change in field.landing), "not all but the bad landed"
    parked = sorted(_file(commit.site) for commit in report.parked)
    assert parked == sorted(field.bad), f"parked {parked} instead of {field.bad}"
    wanted = {change.path: blob_id(change.content or b"") for change in field.landing}
    assert changed(field, report.base, report.tip) == wanted, "the final tree is another one"


def changed(field: Field, base: str, tip: str) -> dict[str, str]:
    """Blob by path, for all that differs between two commits."""
    rows = git(place(field.repo), "diff-tree", "-r", "-z", "--no-renames", base, tip).split(b"\0")
    return {
        path.decode(): head.split()[3].decode()
        for head, path in zip(rows[0::2], rows[1::2], strict=False)
    }


def blob_id(content: bytes) -> str:
    return sha1(b"blob %d\0%s" % (len(content), content)).hexdigest()  # noqa: S324 -- git's own


def _file(site: str) -> str:
    return site.rpartition(":")[0]
