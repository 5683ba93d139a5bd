"""Commands of a model: in its clone, held back by the sandbox, and gone when they end."""

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from adapters.models.showing import clipped
from adapters.processes import sandbox
from adapters.processes.finished import Finished
from adapters.processes.surroundings import scrubbed_environment
from domain.sandbox import Mount, Profile, Sandbox, agent

SEARCH_SECONDS = 60.0
MOST_ROWS = 300
ROW_CHARACTERS = 400
KEPT_BYTES = 400_000
MOST_BYTES = 120_000
"""Of one word: the kernel takes less than 128 KiB."""

NAMED = {
    "GIT_AUTHOR_NAME": "Swathe agent",
    "GIT_AUTHOR_EMAIL": "agent@swathe.invalid",
    "GIT_COMMITTER_NAME": "Swathe agent",
    "GIT_COMMITTER_EMAIL": "agent@swathe.invalid",
    "GIT_CONFIG_NOSYSTEM": "1",
}
"""Who commits in the clone; what lands is written again under our own name. The machine's own settings of git
are not the model's, and under Landlock git would stop at a file that it may not read."""


class CommandRefused(Exception):
    """Nothing was run. The message is for the model."""


class Commands:
    """Runs commands in `folder`, seen at `at` when that is given. `environment`: added to a scrubbed one."""

    def __init__(
        self,
        folder: Path,
        held: Sandbox,
        *,
        at: str = "",
        readonly: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.folder = folder
        self.held = held
        shown = (*held.readonly, *readonly)
        self.profile = agent(str(folder), at=at, readonly=shown)
        self.environment = {**NAMED, **(environment or {})}

    def bash(self, command: str, seconds: float, *, writable: bool) -> str:
        """The exit code on the first line, then what it wrote."""
        shell = shutil.which("bash") or "/bin/sh"
        done = self._run([shell, "-c", command], seconds, writable=writable)
        head = f"exit code {done.exit_code}" if done.ended == "exited" else f"it {done.how}"
        return f"{head}\n{clipped(done.output) or '(no output)'}"

    def grep(self, pattern: str, glob: str, *, ignore_case: bool) -> str:
        """Lines that match, as `path:line:text`."""
        words = ["git", "grep", "-n", "-I", "-E", "--untracked", "--no-color"]
        words += ["-i"] * ignore_case + ["-e", pattern, "--", *_spec(glob)]
        return self._rows(words, "no line matches")

    def glob(self, pattern: str) -> str:
        """Files whose path matches, one a line."""
        words = ["git", "ls-files", "-c", "-o", "--exclude-standard", "--", *_spec(pattern)]
        return self._rows(words, "no file matches")

    def changes(self) -> str:
        """What is not committed, as `git status --porcelain` says it; empty when nothing is."""
        words = ["git", "status", "--porcelain", "-uall"]
        said = self._rows(words, "")
        return clipped(said, 2_000)

    def elsewhere(self) -> str:
        """Branches with commits that HEAD does not hold, one a line; empty when there are none."""
        said = self._rows(
            ["git", "for-each-ref", "--format=%(refname:short)", "--no-merged=HEAD", "refs/heads"],
            "",
        )
        return clipped(said, 2_000)

    def _run(
        self, words: Sequence[str], seconds: float, *, writable: bool, apart: bool = False
    ) -> Finished:
        _check(words)
        with ExitStack() as stack:
            profile = self.profile if writable else self._reading(stack)
            return sandbox.run(
                list(words),
                profile=profile,
                backend=self.held.backend,
                cwd=self.folder,
                env=scrubbed_environment(self.environment),
                timeout_seconds=seconds,
                keep_bytes=KEPT_BYTES,
                apart=apart,
            )

    def _reading(self, stack: ExitStack) -> Profile:
        """The same, without a right to write to the clone; Landlock wants some folder that it may write to."""
        mounts = tuple(
            mount.model_copy(update={"writable": False}) for mount in self.profile.mounts
        )
        if self.held.backend == "landlock":
            scratch = stack.enter_context(tempfile.TemporaryDirectory(prefix="swathe-"))
            mounts = (*mounts, Mount(path=scratch, writable=True))
        return self.profile.model_copy(update={"mounts": mounts})

    def _rows(self, words: Sequence[str], nothing: str) -> str:
        """Standard output, line by line. What else is said (by a hook of the clone's) is no result."""
        done = self._run(words, SEARCH_SECONDS, writable=False, apart=True)
        if done.ended == "exited" and done.exit_code == 1 and not done.output:
            return nothing
        if not done.ok:
            return f"the search {done.how}: {clipped(done.errors or done.output, 2_000)}"
        rows = done.output.splitlines()
        shown = [row[:ROW_CHARACTERS] for row in rows[:MOST_ROWS]]
        more = [f"and {len(rows) - MOST_ROWS:,} more: narrow it down"] * (len(rows) > MOST_ROWS)
        return "\n".join([*shown, *more]) or nothing


def _check(words: Sequence[str]) -> None:
    """What the kernel takes as one word of a command."""
    for word in words:
        try:
            size = len(word.encode())
        except UnicodeEncodeError:
            raise CommandRefused("this cannot be run: it holds half a character.") from None
        if "\0" in word:
            raise CommandRefused("this cannot be run: it holds a NUL character.")
        if size > MOST_BYTES:
            raise CommandRefused(
                f"this cannot be run: {size:,} bytes are more than one word of a command may have. "
                "Put the text into a file with `write`."
            )


def _spec(glob: str) -> list[str]:
    """A bare name is sought at any depth."""
    if not glob:
        return []
    return [f":(glob){glob}" if "/" in glob else f":(glob)**/{glob}"]
