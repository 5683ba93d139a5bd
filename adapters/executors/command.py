"""Commands of the operator: one prints the sites as JSON lines, one edits a site."""

import json
from collections import Counter
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from pydantic import ConfigDict, Field, ValidationError

from adapters.executors.reading import Reader, Source
from adapters.processes.finished import Finished
from adapters.processes.sandbox import run
from adapters.processes.surroundings import scrubbed_environment
from adapters.processes.toolchains import named
from domain.axis import Commands
from domain.recognition import barred, numbered, site_key
from domain.sandbox import Profile, agent
from domain.site import Listing, Site
from domain.value import Refused, Value

FIND_BYTES = 200_000_000
FIND_SECONDS = 600.0
EDIT_SECONDS = 600.0
SHOWN_CHARACTERS = 200
MESSAGE_CHARACTERS = 1000


class Reported(Value):
    """One line of what `find` prints."""

    model_config = ConfigDict(extra="ignore")

    path: str
    line: int = Field(default=1, ge=1)
    end_line: int | None = None
    rule: str = Field(default="", max_length=200)
    message: str = ""
    id: str | None = None
    """What tells this site from others; without one, the lines it covers do."""


@dataclass
class Found:
    """The sites of one run of `find`, and the files they are in."""

    sites: tuple[Site, ...] = ()
    sources: dict[str, Source] = field(default_factory=dict[str, Source])
    dropped: Counter[str] = field(default_factory=Counter[str])
    """How many sites were left out, by reason."""

    def listing(self, reader: Reader, *notes: str) -> Listing:
        said = [f"{what}: {count}" for what, count in sorted(self.dropped.items())]
        return Listing(sites=self.sites, skipped=reader.skipped, notes=(*said, *notes))

    def open(self, exclude: AbstractSet[str]) -> list[Site]:
        out = barred(self.sites, exclude)
        return [site for site in self.sites if site.id not in out]


def find(reader: Reader, axis: Commands, allowed: AbstractSet[str] | None) -> Found:
    """Run `find` in the tree, and believe of its answer what lies in the scope."""
    done = run(
        axis.find,
        profile=_profile(reader, axis.find),
        backend=reader.held.backend,
        cwd=reader.root,
        env=scrubbed_environment({}),
        timeout_seconds=FIND_SECONDS,
        keep_bytes=FIND_BYTES,
        apart=True,
    )
    if not done.ok:
        raise Refused(
            f"the command that lists the sites, {axis.find!r}, {done.how}: {_last_line(done)!r}. "
            f"Run it in the repository; with no site left it prints nothing and ends with 0."
        )
    found, sites = Found(), list[Site]()
    for reported in _reported(axis, done.output):
        if allowed is not None and reported.path not in allowed:
            found.dropped["sites outside the scope"] += 1
        elif (source := _source(reader, found, reported.path)) is None:
            found.dropped["sites in files that are left alone or do not exist"] += 1
        else:
            sites.append(_site(source, reported))
    found.sites = numbered(sites)
    return found


def edit(reader: Reader, axis: Commands, site: Site, rows: tuple[int, int]) -> Finished:
    """Run `edit` for one site, which by now lies at `rows`."""
    row, end_row = rows
    told = {
        "path": site.path,
        "line": row,
        "end_line": end_row,
        "rule": site.rule,
        "message": site.message,
    }
    env = {
        "SWATHE_SITE": json.dumps({**told, "id": site.id}),
        "SWATHE_PATH": site.path,
        "SWATHE_LINE": str(row),
    }
    return run(
        axis.edit,
        profile=_profile(reader, axis.edit),
        backend=reader.held.backend,
        cwd=reader.root,
        env=scrubbed_environment(env),
        timeout_seconds=EDIT_SECONDS,
    )


def _profile(reader: Reader, command: str) -> Profile:
    shown = map(str, named(command))
    return agent(str(reader.root), readonly=(*reader.held.readonly, *shown))


def _reported(axis: Commands, output: str) -> Iterator[Reported]:
    """Lines that are no JSON objects are remarks of the command, for people."""
    for number, line in enumerate(output.split("\n"), start=1):
        if not line.lstrip().startswith("{"):
            continue
        try:
            yield Reported.model_validate(json.loads(line))
        except (ValueError, ValidationError) as error:
            problem = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
            raise Refused(
                f"line {number} of {axis.find!r} is no site ({problem}): {line[:SHOWN_CHARACTERS]!r}. "
                f'Print one object per line, as in {{"path": "a.py", "line": 3}}.'
            ) from None


def _source(reader: Reader, found: Found, path: str) -> Source | None:
    if path not in found.sources:
        source = reader.read(path) if "\0" not in path else None
        if source is None:
            return None
        found.sources[path] = source
    return found.sources[path]


def _site(source: Source, reported: Reported) -> Site:
    last = max(reported.line, reported.end_line or reported.line)
    lines = source.lines.between(reported.line, last) if reported.id is None else (reported.id,)
    return Site(
        key=site_key(reported.rule, source.path, lines),
        path=source.path,
        line=reported.line,
        end_line=last,
        rule=reported.rule,
        # It goes into the environment of `edit`, where the kernel takes no string over 128 kB.
        message=reported.message[:MESSAGE_CHARACTERS],
    )


def _last_line(done: Finished) -> str:
    lines = (done.errors.strip() or done.output.strip()).splitlines()
    return lines[-1][:SHOWN_CHARACTERS] if lines else "(no output)"
