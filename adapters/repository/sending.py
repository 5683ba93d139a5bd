"""Sending: commits, and all they need, from one repository of ours into another, checked on arrival."""

import signal
from collections.abc import Sequence

from adapters.failpoints import reach
from adapters.repository.git import GitFailed, Place, started


def send(
    source: Place,
    into: Place,
    commits: Sequence[str],
    known: Sequence[str],
    *,
    packing: tuple[str, ...] = (),
    indexing: tuple[str, ...] = (),
) -> None:
    """Pack `commits` without what the `known` ones hold, and index the pack by `fsck` rules as it comes.

    `packing` and `indexing` are options of git's, as in `core.fsync=none`.
    """
    wanted = "".join(f"{commit}\n" for commit in dict.fromkeys(commits))
    wanted += "".join(f"^{commit}\n" for commit in dict.fromkeys(known) if commit)
    with started(
        source, "pack-objects", "--revs", "--stdout", "-q", "--thin", "--delta-base-offset",
        options=packing,
    ) as giving:  # fmt: skip
        pack, feed = giving.stdout, giving.stdin
        if pack is None or feed is None:
            raise GitFailed("pack-objects", 1, "its streams are closed")
        words = ("index-pack", "--stdin", "--fix-thin", "--strict")
        with started(into, *words, options=indexing, stdin=pack) as taking:
            pack.close()
            feed.write(wanted.encode())
            feed.close()
            reach("objects-packed")
            _, said = taking.communicate()
        told = giving.stderr.read() if giving.stderr else b""
        # Who is refused in the midst of writing dies of the broken pipe: then the reason is the reader's.
        refused = giving.wait() == -signal.SIGPIPE and taking.returncode
        if giving.returncode and not refused:
            raise GitFailed("pack-objects", giving.returncode, told.decode(errors="replace"))
        if taking.returncode:
            raise GitFailed("index-pack", taking.returncode, said.decode(errors="replace"))
