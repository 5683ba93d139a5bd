"""The lease of a remote: who works on it, whichever machine they are on. Renewed by a thread while the run lives."""

import atexit
import os
import re
import socket
from collections.abc import Mapping
from datetime import UTC, datetime
from threading import Event, Lock, Thread

from pydantic import ValidationError

from adapters.home import disk
from adapters.repository.git import Place, git
from adapters.repository.hardened import IDENTITY_EMAIL, IDENTITY_NAME
from adapters.repository.remotes import refs_at, talk
from domain.sharing import LEASE, SECONDS_BETWEEN_RENEWALS, Holder, held_by, takeable
from domain.value import Busy, Refused
from domain.words import without_credentials


class Lost(Refused):
    """Another worker took the run over: it is not ours to write any more."""


class Lease:
    """Held from `take` to `release`. Whatever is pushed goes through it, and is fenced by it."""

    def __init__(self, place: Place, url: str, run: str) -> None:
        self.place, self.url, self.run = place, url, run
        self.shown = without_credentials(url)
        self.held = ""
        """The commit that says that it is ours."""
        self._pushing, self._over = Lock(), Event()

    def take(self, there: Mapping[str, str]) -> None:
        """Take it, or say who has it (`Busy`), or that nobody may write there (`Refused`)."""
        found = there.get(LEASE, "")
        if found and not takeable(self._read(found), self._mine()):
            raise Busy(held_by(self._read(found), self._mine(), self.shown))
        status, said = self._push(expected=found)
        if status == 0:
            Thread(target=self._renew_for_ever, daemon=True).start()
            atexit.register(self.release)
            return
        now = refs_at(self.place, self.url, LEASE).get(LEASE, "")
        if now and now != found:
            raise Busy(held_by(self._read(now), self._mine(), self.shown))
        raise Refused(
            f"what lands could not be kept at {self.shown}: {said} Give the worker a key that may push there, name "
            f"another remote with --share (a pool: `share`), or say `none`: then it is kept here alone."
        )

    def push(self, updates: Mapping[str, tuple[str, str]]) -> tuple[int, str]:
        """Bring refs there, each from its old id (empty: it must not exist), if the lease is still ours. All or nothing."""
        if not self.held:
            raise self._lost()
        status, said = self._push(updates)
        if status and LEASE in said:
            raise self._lost()
        return status, said

    def release(self) -> None:
        """Let go. Where that fails, the lease ends by itself."""
        self._over.set()
        atexit.unregister(self.release)
        with self._pushing:
            if self.held:
                expected = f"--force-with-lease={LEASE}:{self.held}"
                talk(self.place, self.url, "push", "-q", expected, "--", self.url, f":{LEASE}")
                self.held = ""

    def _push(
        self, updates: Mapping[str, tuple[str, str]] | None = None, expected: str | None = None
    ) -> tuple[int, str]:
        """In one transaction with our word that we live."""
        with self._pushing:
            word = self._written()
            lease = word, self.held if expected is None else expected
            moves = {LEASE: lease, **(updates or {})}
            options = [f"--force-with-lease={ref}:{old}" for ref, (_, old) in moves.items()]
            specs = [f"{new}:{ref}" for ref, (new, _) in moves.items()]
            status, out, err = talk(
                self.place, self.url, "push", "--atomic", "--porcelain", "--no-verify", *options, "--", self.url, *specs,
            )  # fmt: skip
            if status == 0:
                self.held = word
            return status, _said(out, err)

    def _renew_for_ever(self) -> None:
        while not self._over.wait(SECONDS_BETWEEN_RENEWALS):
            status, said = self._push()
            if status and LEASE in said:
                self.held = ""
                return

    def _lost(self) -> Lost:
        self.held = ""
        self._over.set()
        return Lost(
            f"another worker holds {self.shown} by now: this run was taken for dead, and is gone on with there. "
            f"Nothing was overwritten."
        )

    def _mine(self) -> Holder:
        return Holder(
            run=self.run,
            disk=disk(),
            host=socket.gethostname(),
            pid=os.getpid(),
            at=datetime.now(UTC),
        )

    def _written(self) -> str:
        """A commit with an empty tree: some hosts take nothing else at a ref."""
        tree = git(self.place, "hash-object", "-t", "tree", "-w", "--stdin").decode().strip()
        mine = self._mine()
        who = f"{IDENTITY_NAME} <{IDENTITY_EMAIL}> {int(mine.at.timestamp())} +0000"
        text = f"tree {tree}\nauthor {who}\ncommitter {who}\n\n{mine.to_json()}\n"
        return (
            git(self.place, "hash-object", "-t", "commit", "-w", "--stdin", stdin=text.encode())
            .decode()
            .strip()
        )

    def _read(self, commit: str) -> Holder:
        status, _, err = talk(
            self.place, self.url, "fetch", "-q", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--",
            self.url, f"+{LEASE}:{LEASE}",
        )  # fmt: skip
        if status:
            raise Refused(f"the lease at {self.shown} could not be fetched: {err}")
        text = git(self.place, "cat-file", "commit", commit).decode(errors="replace")
        try:
            return Holder.from_json(text.partition("\n\n")[2])
        except (ValidationError, ValueError):
            raise Refused(
                f"{LEASE} at {self.shown} is no lease of ours. If nobody works there: git push {self.shown} :{LEASE}"
            ) from None


def _said(out: str, err: str) -> str:
    """Why a push failed, in its own words: those of the refs, else of the connection."""
    rows = [row for row in out.splitlines() if row.startswith("!") and "atomic" not in row]
    told = [re.sub(r"^!\t[^\t:]*:", "", row).replace("\t", " ") for row in rows]
    # What a hook there has to say.
    told += [line.strip() for line in err.splitlines() if rows and line.startswith("remote:")]
    return "; ".join(told) or " ".join(err.split()) or "no reason was given"
