"""Deploying files, from reading them to what changed on the server. Nothing is changed before every file is right."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from adapters.service.prefect_file import BLOCK, Read, read
from cli.connecting import address, connected
from cli.deploy import Deployed, refused
from domain.deployment import PrefectFile, Trouble
from domain.value import Refused

if TYPE_CHECKING:
    from cli.deploying import Deploying


def place(files: Sequence[Path], *, check: bool, prune: bool = False) -> list[Deployed]:
    found = [read(file) for file in files]
    _refuse_wrong([*found, *_twice(found)])
    url = address(start=not check)
    with connected(url or "http://127.0.0.1:0/api"):
        from prefect.client.orchestration import get_client

        from cli.deploying import Deploying
        from cli.loading import troubles

        _refuse_wrong([one.told(*troubles(_content(one))) for one in found])
        if url is None:
            return [_deployed(one, Deploying(None, apply=False), url) for one in found]
        with get_client(sync_client=True) as client:
            dry = Deploying(client, apply=False)
            _refuse_wrong(
                [one.told(*_missing(one, dry.missing_blocks(_blocks(one)))) for one in found]
            )
            _refuse_other_kinds(found, dry)
            deploying = Deploying(client, apply=not check, prune=prune)
            return [_deployed(one, deploying, url) for one in found]


def _deployed(one: Read, deploying: "Deploying", url: str | None) -> Deployed:
    content = _content(one)
    changes = deploying.deploy(content)
    left = () if deploying.prune else deploying.names_left(content)
    return Deployed(
        file=one.file,
        pool=content.pool,
        checked=not deploying.apply,
        server=url or "",
        changes=tuple(changes),
        left=left,
    )


def _content(one: Read) -> PrefectFile:
    if one.content is None:
        raise Refused(f"{one.file!r} could not be read.")
    return one.content


def _refuse_wrong(found: Sequence[Read]) -> None:
    problems = [problem for one in found for problem in one.problems]
    told = dict.fromkeys(
        problem.told for problem in sorted(problems, key=lambda p: (p.file, p.line))
    )
    if told:
        raise refused(list(told))


def _twice(found: Sequence[Read]) -> Iterator[Read]:
    """Two files of one pool, or two pools of one repository, would undo and block each other."""
    seen: dict[str, str] = {}
    for one in found:
        if one.content is None:
            continue
        repo = str(one.content.spec.job_variables.get("repo"))
        for what in (f"pool {one.content.pool!r}", f"repository {repo!r}"):
            if what in seen:
                place = ("definitions", "work_pools", one.content.pool)
                said = f"{seen[what]} is of the {what} already: one file, one pool, one repository."
                yield one.model_copy(update={"problems": ()}).told(Trouble(path=place, said=said))
            seen[what] = one.file


def _blocks(one: Read) -> set[str]:
    return set(BLOCK.findall(_content(one).model_dump_json()))


def _missing(one: Read, names: Sequence[str]) -> Iterator[Trouble]:
    for name in names:
        yield Trouble(
            path=_line_of(one, name),
            said=f"no Secret block {name!r} on the server. Make it in the UI (Blocks, Secret), "
            f"or as in: python -c \"from prefect.blocks.system import Secret; Secret(value=input()).save('{name}')\"",
        )


def _line_of(one: Read, name: str) -> tuple[str | int, ...]:
    for number, row in enumerate(one.text.splitlines(), 1):
        if re.search(rf"secret\.{name}\b", row):
            return ("line", number)
    return ()


def _refuse_other_kinds(found: Sequence[Read], dry: "Deploying") -> None:
    """A pool keeps its type for good."""
    for one in found:
        content = _content(one)
        standing = dry.found_pool(content.pool)
        if standing and standing["type"] != content.spec.type:
            raise Refused(
                f"the work pool {content.pool!r} is of type {standing['type']!r} on the server, and a pool keeps its type. "
                f"Give this one another name, or delete it there: prefect work-pool delete {content.pool}"
            )
