"""A field: a repository with sites of which some are bad, and a gate that knows which.

The gate is red as soon as a bad file is no longer what it was. What a red run says is chosen: a failing
test for each bad file, all bad files in its log, the first of them, or nothing.
"""

import random
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from adapters.executors import codemod
from benchmarks.repositories import committed, made_of, unpacked
from domain.admission import protected
from domain.axis import Ruff
from domain.change import Change
from domain.target import Target

AXIS = Ruff(select="RET505")
SETTINGS = ("pyproject.toml", "ruff.toml", ".ruff.toml")
PER_FOLDER, PER_AREA = 40, 1000
"""Files: as in a real tree, no folder has thousands of entries, whose tree every commit would write."""
SAYINGS = {
    "tests": "has a failing test for each bad file",
    "log": "names all bad files in its log",
    "first": "names one bad file a run",
    "nothing": "says only red or green",
}
"""What a red run of the gate may say."""

GATE = """\
# $1: what a red run says. $2: how many seconds a run takes.
sleep "$2"
if grep -q "^)]}'" "$(head -n 1 checks/guard)"; then echo "syntax error"; exit 1; fi
[ -s checks/bad.sha256 ] || exit 0
case $1 in
tests)
  while read -r line; do
    echo "<testcase classname='checks' name='${line##* }'>"
    echo "$line" | sha256sum -c --status || echo "<failure message='${line##* } has changed'/>"
    echo "</testcase>"
  done < checks/bad.sha256 > "$SWATHE_JUNIT/cases"
  { echo "<testsuite>"; cat "$SWATHE_JUNIT/cases"; echo "</testsuite>"; } > "$SWATHE_JUNIT/checks.xml"
  ! grep -q "<failure" "$SWATHE_JUNIT/cases" ;;
log) sha256sum -c --quiet checks/bad.sha256 ;;
first) while read -r line; do echo "$line" | sha256sum -c --quiet || exit 1; done < checks/bad.sha256 ;;
nothing) sha256sum -c --status checks/bad.sha256 ;;
esac
"""

SITE = '''\
"""Number {number} of the files that hold a site."""


def choose_{number}(value: int, *, limit: int = {number}) -> str:
    if value > limit:
        return "more than {number}"
    else:
        return "at most {number}"
'''

PLAIN = '''\
"""Number {number} of the files that hold none."""

from collections.abc import Iterator

STEPS_{number} = ({number}, {number} + 1, {number} + 2)


def walk_{number}(start: int) -> Iterator[int]:
    for step in STEPS_{number}:
        if step > start:
            yield step * {number}
    yield start
'''


@dataclass(frozen=True)
class Field:
    """A repository, what the axis changes in it, and what it must not."""

    repo: Path
    files: int
    changes: tuple[Change, ...]
    """What the executor makes of it, one commit each, in order."""
    bad: tuple[str, ...]
    """The files that must stay as they are."""
    paths: tuple[str, ...]
    """The scope; empty: everything."""

    @property
    def landing(self) -> tuple[Change, ...]:
        """All but the bad."""
        return tuple(change for change in self.changes if change.path not in self.bad)

    @property
    def sites(self) -> int:
        return len(self.changes)

    def target(self, says: str, seconds: float) -> Target:
        # The naive loop runs its gate without a sandbox, too.
        command = gate(says, seconds)
        return Target(repo=str(self.repo), verify=(command,), paths=self.paths, sandbox="off")


def gate(says: str, seconds: float) -> str:
    return f"sh checks/gate.sh {says} {seconds:g}"


def made(folder: Path, *, files: int, sites: int, bad: int, seed: int) -> Field:
    """A synthetic repository: `sites` of its files hold one site each, evenly spread."""
    repo = folder / "made"
    every = (files - 3) / sites
    holders = {int(number * every) for number in range(sites)}
    texts = {
        _path(number): (SITE if number in holders else PLAIN).format(number=number)
        for number in range(files - 3)
    }
    holding = [path for number, path in enumerate(texts) if number in holders]
    chosen = tuple(sorted(random.Random(seed).sample(holding, bad)))  # noqa: S311 -- a draw to repeat
    made_of(
        repo, texts | _checks(repo, {path: texts[path].encode() for path in chosen}, holding[0])
    )
    return Field(repo, files, _changes(repo, folder / "made-copy", holding), chosen, ())


def _path(number: int) -> str:
    folder = number % PER_AREA // PER_FOLDER
    return f"area{number // PER_AREA:03}/pkg{folder:02}/mod{number:06}.py"


def real(given: Path, folder: Path, *, sites: int, bad: int, seed: int) -> Field:
    """A real tree, with the scope cut to files that hold about `sites` sites at first sight."""
    repo = unpacked(given, folder / "real")
    listing = codemod.find(repo, AXIS, allowed=None, cache=folder / "cache")
    counts = Counter(site.path for site in listing.sites if protected(site.path) in (None, "tests"))
    paths = tuple(_until(counts, sites))
    changes = _changes(repo, folder / "real-copy", paths)
    once = [
        path for path, count in Counter(change.path for change in changes).items() if count == 1
    ]
    chosen = tuple(sorted(random.Random(seed).sample(once, bad)))  # noqa: S311 -- a draw to repeat
    checks = _checks(repo, {path: (repo / path).read_bytes() for path in chosen}, paths[0])
    for path, text in checks.items():
        (repo / path).parent.mkdir(exist_ok=True)
        (repo / path).write_text(text)
    committed(repo)
    files = sum(1 for path in repo.rglob("*") if path.is_file() and ".git" not in path.parts)
    return Field(repo, files, changes, chosen, paths)


def _until(counts: Counter[str], sites: int) -> Iterator[str]:
    found = 0
    for path in sorted(counts):
        if found >= sites:
            return
        found += counts[path]
        yield path


def _checks(repo: Path, bad: dict[str, bytes], guard: str) -> dict[str, str]:
    sums = "".join(f"{sha256(content).hexdigest()}  {path}\n" for path, content in bad.items())
    return {"checks/gate.sh": GATE, "checks/bad.sha256": sums, "checks/guard": f"{guard}\n"}


def _changes(repo: Path, copy: Path, paths: Sequence[str]) -> tuple[Change, ...]:
    """What the executor does, in a copy of the files and of ruff's settings."""
    for path in (*paths, *SETTINGS):
        if (repo / path).exists():
            (copy / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(repo / path, copy / path)
    found: list[Change] = []
    allowed = frozenset(paths)
    codemod.work(copy, AXIS, allowed=allowed, cache=copy.with_name("cache"), commit=found.extend)
    return tuple(found)
